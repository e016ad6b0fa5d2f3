-- remove_member removes both directions of a membership and queues the purge of the list's timeline.
--
-- KEYS   1 list   2 members   3 lists of this partition that contain the author   4 outbox
-- ARGV   1 owner   2 list   3 author   4 origin of the entry: see lib/enqueue.lua
-- Reply  'ok', 'missing', or 'forbidden' if the list has another owner
--@include listowner
--@include enqueue

local state = check_owner(KEYS[1], ARGV[1])
if state == 'ok' and redis.call('ZREM', KEYS[2], ARGV[3]) == 1 then
  redis.call('ZREM', KEYS[3], ARGV[2])
  enqueue(KEYS[4], { 'kind', 'purge', 'timeline', 'l' .. ARGV[2], 'author', ARGV[3], 'owner', ARGV[1] }, ARGV[4])
end
return state
