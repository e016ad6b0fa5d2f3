-- delete_list takes a list from sight and queues its taking apart.
--
-- KEYS   1 list   2 lists of the owner   3 outbox
-- ARGV   1 owner   2 list
-- Reply  'ok', 'missing' or 'other' when it is another owner's
--@include owned
--@include unlisting

local state = owned(KEYS[1], ARGV[1])
if state == 'ok' then
  discard(KEYS[1], KEYS[2], KEYS[3], ARGV[2])
end
return state
