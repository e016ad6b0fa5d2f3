-- delete_list marks a list as deleted and queues the removal of its members.
--
-- KEYS   1 list   2 lists of the owner   3 outbox   4 online   5 online nodes
-- ARGV   1 owner   2 list   3 PUBLISH or SPUBLISH   4 channel prefix   5 origin of the entry: see lib/enqueue.lua
-- Reply  'ok', 'missing', or 'forbidden' if the list has another owner
--@include listowner
--@include publish
--@include enqueue
--@include listdeletion

local state = check_owner(KEYS[1], ARGV[1])
if state == 'ok' then
  local keys = {
    lists = KEYS[2], outbox = KEYS[3], online = KEYS[4], nodes = KEYS[5], command = ARGV[3], channel = ARGV[4], origin = ARGV[5],
  }
  begin_list_deletion(keys, KEYS[1], ARGV[2], ARGV[1])
end
return state
