-- delete_list takes a list from sight and queues its taking apart.
--
-- KEYS   1 list   2 lists of the owner   3 outbox   4 online   5 online nodes
-- ARGV   1 owner   2 list   3 PUBLISH or SPUBLISH   4 channel prefix
-- Reply  'ok', 'missing' or 'other' when it is another owner's
--@include owned
--@include publish
--@include unlisting

local state = owned(KEYS[1], ARGV[1])
if state == 'ok' then
  local at = { lists = KEYS[2], outbox = KEYS[3], online = KEYS[4], nodes = KEYS[5], command = ARGV[3], channel = ARGV[4] }
  discard(at, KEYS[1], ARGV[2])
end
return state
