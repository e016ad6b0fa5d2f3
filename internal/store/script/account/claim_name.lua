-- claim_name assigns a name to a user if the name is free, and adds it to the name index.
--
-- KEYS   1 name   2 names
-- ARGV   1 user   2 folded name
-- Reply  the user who holds the name
redis.call('SET', KEYS[1], ARGV[1], 'NX')
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then
  redis.call('ZADD', KEYS[2], 0, ARGV[2] .. ' ' .. holder)
end
return holder
