-- acquire_lease acquires or renews the lease of an outbox.
--
-- KEYS   1 lease
-- ARGV   1 worker   2 TTL in milliseconds
-- Reply  1 if the worker holds the lease now, else 0
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
