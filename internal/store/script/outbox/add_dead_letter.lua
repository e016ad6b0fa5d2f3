-- add_dead_letter adds an entry that failed for good to the dead-letter queue. A repeat has no
-- effect.
--
-- KEYS   1 dead letters
-- ARGV   1 entry   2 reason   3 dead letters to keep   4… fields of the entry
-- Reply  1, or 0 if the queue already holds the entry
for _, letter in ipairs(redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1000)) do
  if letter[2][2] == ARGV[1] then
    return 0
  end
end
redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[3], '*', 'entry', ARGV[1], 'reason', ARGV[2], unpack(ARGV, 4))
return 1
