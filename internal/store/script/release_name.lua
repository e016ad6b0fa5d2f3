-- release_name takes a name back from a user. Another user's it leaves alone.
--
-- KEYS   1 name
-- ARGV   1 user
-- Reply  'ok'
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
return 'ok'
