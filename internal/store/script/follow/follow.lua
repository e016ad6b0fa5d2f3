-- follow writes both directions of an edge and queues the back-fill of the reader's home. It does not change an existing edge. It
-- also sets whether the home shows the reposts of the author. If that changes, it raises the filter epoch of the reader.
--
-- KEYS   1 account of the reader   2 following   3 followers of the author in this partition
--        4 clock   5 outbox   6 users whose reposts the home does not show   7 online   8 online nodes
-- ARGV   1 reader   2 author   3 follow limit   4 tag of the partition and ':'
--        5 '1' to show reposts, '0' to hide them, '' for the default: shown, or unchanged if the edge exists
--        6 PUBLISH or SPUBLISH   7 channel prefix   8 outbox limit   9 origin of the entry: see lib/enqueue.lua
-- Reply  { 'ok', version, followers of the author here }, { 'no_user' } if there is no such reader,
--        { 'limit' }, or { 'full' }
--@include clock
--@include ids
--@include list
--@include search
--@include merge
--@include publish
--@include progress
--@include mergemarks
--@include pull
--@include filterepoch
--@include enqueue

if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return { 'no_user' }
end
local instant, shown_reposts = string.format('%.0f', tick(KEYS[4])), ARGV[5]
if not redis.call('ZSCORE', KEYS[2], ARGV[2]) then
  if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then
    return { 'limit' }
  end
  if redis.call('XLEN', KEYS[5]) >= tonumber(ARGV[8]) then
    return { 'full' }
  end
  redis.call('ZADD', KEYS[2], instant, ARGV[2])
  redis.call('ZADD', KEYS[3], instant, ARGV[1])
  redis.call('HINCRBY', KEYS[1], 'following', 1)
  set_pull_watermarks(ARGV[4], ARGV[1], { ARGV[2] }) -- the back-fill adds the posts up to now
  enqueue(KEYS[5], { 'kind', 'backfill', 'timeline', 'h' .. ARGV[1], 'author', ARGV[2], 'score', instant }, ARGV[9])
  shown_reposts = shown_reposts == '' and '1' or shown_reposts
end
if shown_reposts ~= '' and redis.call(shown_reposts == '1' and 'SREM' or 'SADD', KEYS[6], ARGV[2]) == 1 then
  raise_filter_epoch(KEYS[1], KEYS[7], KEYS[8], ARGV[1], ARGV[6], ARGV[7])
end
return { 'ok', instant, redis.call('ZCARD', KEYS[3]) }
