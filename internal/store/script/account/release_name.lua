-- release_name releases a name if the user holds it.
--
-- KEYS   1 name   2 names
-- ARGV   1 user   2 folded name
-- Reply  'ok'
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
redis.call('ZREM', KEYS[2], ARGV[2] .. ' ' .. ARGV[1])
return 'ok'
