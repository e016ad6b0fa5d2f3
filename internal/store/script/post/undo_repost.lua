-- undo_repost replaces a user's repost of a post by a tombstone, removes it from the profile and queues its removal from
-- other timelines. A repeat has no effect.
--
-- KEYS   1 reposts of the user   2 profile   3 account   4 outbox   5 changes   6 online   7 online nodes
-- ARGV   1 reposter   2 post   3 changes to keep   4 PUBLISH or SPUBLISH   5 channel prefix   6 post key prefix
--        7 origin of the entry: see lib/enqueue.lua
-- Reply  'ok'
--@include clock
--@include ids
--@include publish
--@include changes
--@include enqueue
--@include tombstone

local repost = redis.call('HGET', KEYS[1], ARGV[2])
if not repost then
  return 'ok'
end
redis.call('HDEL', KEYS[1], ARGV[2])
redis.call('LREM', KEYS[2], 1, element_of(repost, ARGV[1], nil, ARGV[2]))
leave_tombstone({ user = KEYS[3], outbox = KEYS[4], changes = KEYS[5], online = KEYS[6], nodes = KEYS[7], origin = ARGV[7] },
  ARGV[6] .. repost, repost, ARGV[1], ARGV[3], ARGV[4], ARGV[5])
return 'ok'
