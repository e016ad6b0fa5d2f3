-- release_lease releases the lease of an outbox if the worker holds it.
--
-- KEYS   1 lease
-- ARGV   1 worker
-- Reply  'ok'
--@include lease
if lease_holder(KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
return 'ok'
