-- delete_list takes a list from sight and queues its taking apart.
--
-- KEYS   1 list   2 lists of the owner   3 outbox   4 online   5 online nodes
-- ARGV   1 owner   2 list   3 PUBLISH or SPUBLISH   4 channel prefix
-- Reply  'ok', 'missing' or 'forbidden' when it is another owner's
--@include listowner
--@include publish
--@include listdeletion

local state = check_owner(KEYS[1], ARGV[1])
if state == 'ok' then
  local at = { lists = KEYS[2], outbox = KEYS[3], online = KEYS[4], nodes = KEYS[5], command = ARGV[3], channel = ARGV[4] }
  begin_list_deletion(at, KEYS[1], ARGV[2])
end
return state
