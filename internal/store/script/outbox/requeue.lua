-- requeue moves a dead letter back into its outbox. A repeat has no effect.
--
-- KEYS   1 dead letters   2 outbox
-- ARGV   1 dead letter   2… fields of the entry
-- Reply  1, or 0 if the dead letter no longer exists
if redis.call('XDEL', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 2))
return 1
