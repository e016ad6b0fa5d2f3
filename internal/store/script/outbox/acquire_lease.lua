-- acquire_lease acquires or renews the lease of an outbox.
--
-- KEYS   1 lease
-- ARGV   1 worker   2 TTL in milliseconds
-- Reply  1 if the worker holds the lease now, else 0
--@include lease
if (lease_holder(KEYS[1]) or ARGV[1]) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[2])
return 1
