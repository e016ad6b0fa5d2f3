-- unfollow removes both directions of an edge and queues the purge of the reader's home.
--
-- KEYS   1 account of the reader   2 following   3 followers of the author in this partition
--        4 clock   5 outbox
-- ARGV   1 reader   2 author   3 tag of the partition and ':'   4 origin of the entry: see lib/enqueue.lua
-- Reply  { 'ok', version, followers of the author here }
--@include clock
--@include enqueue

local instant = string.format('%.0f', tick(KEYS[4]))
if redis.call('ZREM', KEYS[2], ARGV[2]) == 1 then
  redis.call('ZREM', KEYS[3], ARGV[1])
  redis.call('HINCRBY', KEYS[1], 'following', -1)
  redis.call('HDEL', ARGV[3] .. 'pull_watermarks:' .. ARGV[1], ARGV[2])
  enqueue(KEYS[5], { 'kind', 'purge', 'timeline', 'h' .. ARGV[1], 'author', ARGV[2] }, ARGV[4])
end
return { 'ok', instant, redis.call('ZCARD', KEYS[3]) }
