-- add_dead_letter keeps an entry that could not be carried out, once.
--
-- KEYS   1 dead letters
-- ARGV   1 entry   2 reason   3 dead letters kept   4… fields of the entry
-- Reply  1, or 0 when it is kept already
for _, letter in ipairs(redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1000)) do
  if letter[2][2] == ARGV[1] then
    return 0
  end
end
redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[3], '*', 'entry', ARGV[1], 'reason', ARGV[2], unpack(ARGV, 4))
return 1
