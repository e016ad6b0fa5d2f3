-- requeue queues a dead letter again, once.
--
-- KEYS   1 dead letters   2 outbox
-- ARGV   1 dead letter   2… fields of the entry to queue
-- Reply  1, or 0 when it is gone
if redis.call('XDEL', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 2))
return 1
