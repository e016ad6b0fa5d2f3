-- follow writes both directions of an edge and queues the back-fill of the reader's home. It does
-- not change an existing edge.
--
-- KEYS   1 account of the reader   2 following   3 followers of the author in this partition
--        4 clock   5 outbox
-- ARGV   1 reader   2 author   3 follow limit   4 tag of the partition and ':'
-- Reply  { 'ok', version, followers of the author here }, { 'no_user' } if there is no such reader,
--        or { 'limit' }
--@include clock
--@include ids
--@include list
--@include merge
--@include publish
--@include progress
--@include mergemarks
--@include pull

if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return { 'no_user' }
end
local instant = string.format('%.0f', tick(KEYS[4]))
if not redis.call('ZSCORE', KEYS[2], ARGV[2]) then
  if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then
    return { 'limit' }
  end
  redis.call('ZADD', KEYS[2], instant, ARGV[2])
  redis.call('ZADD', KEYS[3], instant, ARGV[1])
  redis.call('HINCRBY', KEYS[1], 'following', 1)
  set_pull_watermarks(ARGV[4], ARGV[1], { ARGV[2] }) -- the back-fill adds the posts up to now
  redis.call('XADD', KEYS[5], '*', 'kind', 'backfill', 'timeline', 'h' .. ARGV[1], 'author', ARGV[2], 'score', instant)
end
return { 'ok', instant, redis.call('ZCARD', KEYS[3]) }
