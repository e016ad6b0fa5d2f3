-- delete_post replaces a post by a tombstone, removes it from the profile and queues its removal from
-- other timelines. A repeat has no effect.
--
-- KEYS   1 post   2 profile   3 account   4 outbox   5 changes   6 online   7 online nodes
-- ARGV   1 viewer   2 post   3 changes to keep   4 PUBLISH or SPUBLISH   5 channel prefix
--        6 origin of the entry: see lib/enqueue.lua
-- Reply  'ok', 'missing', or 'forbidden' if the post has another author
--@include clock
--@include ids
--@include publish
--@include changes
--@include enqueue
--@include tombstone

local stored = redis.call('HMGET', KEYS[1], 'author', 'reposted')
local author = stored[1]
if not author or stored[2] then
  return 'missing' -- undo_repost removes reposts
end
if author ~= ARGV[1] then
  return 'forbidden'
end
if redis.call('HEXISTS', KEYS[1], 'deleted') == 1 then
  return 'ok'
end
local answered = redis.call('HGET', KEYS[1], 'answered')
redis.call('LREM', KEYS[2], 1, element_of(ARGV[2], author, answered))
leave_tombstone({ user = KEYS[3], outbox = KEYS[4], changes = KEYS[5], online = KEYS[6], nodes = KEYS[7], origin = ARGV[6] },
  KEYS[1], ARGV[2], author, ARGV[3], ARGV[4], ARGV[5])
return 'ok'
