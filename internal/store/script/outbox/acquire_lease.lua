-- acquire_lease takes or keeps the lease of an outbox.
--
-- KEYS   1 lease
-- ARGV   1 worker   2 milliseconds
-- Reply  1 when the worker holds it now, else 0
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
