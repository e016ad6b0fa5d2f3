-- deliver_pulled delivers the post or repost of a large author: it stores the element for the homes of
-- this partition, and merges it into the homes that are watched, some per call. Other homes pull it
-- when they are read.
--
-- The progress is '@' and the cursor of the scan over the watched timelines.
--
-- KEYS   1 progress   2 pulled posts   3 large authors   4 online   5 online nodes
-- ARGV   1 entry   2 expected progress, '' at first   3 element   4 author   5 timelines per call
--        6 cap   7 slack   8 PUBLISH or SPUBLISH   9 channel prefix   10 field of the progress
--        11 tag of the partition and ':'   12 number of partitions
-- Reply  { progress, or 'late' for a post that has to be merged; 0 }
--@include ids
--@include progress
--@include list
--@include search
--@include merge
--@include publish
--@include mergemarks
--@include rows
--@include members
--@include visibility
--@include repeats
--@include pull

local element, author = ARGV[3], ARGV[4]
local cap, slack, tag = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[11]
local order = order_field('h', author)
local progress = entry_progress(KEYS[1], ARGV[1], ARGV[10], order)
if progress == 'done' or progress ~= ARGV[2] then
  return { progress, 0 }
end
if progress == '' then
  if not redis.call('LPOS', KEYS[2], element) and redis.call('LPUSH', KEYS[2], element) > cap + slack then
    redis.call('LTRIM', KEYS[2], 0, cap - 1)
  end
  redis.call('SADD', KEYS[3], author)
end

local scanned = redis.call('SSCAN', KEYS[4], string.match(progress, '^@(%d+)$') or '0', 'COUNT', ARGV[5])
for _, name in ipairs(scanned[2]) do
  local reader = string.match(name, '^h(%d+)$')
  if reader then
    pull_posts(tag, tonumber(ARGV[12]), reader, { author }, cap, slack, publish_to_home(KEYS[5], ARGV[8], ARGV[9], tag, reader))
  end
end
local now = scanned[1] == '0' and 'done' or '@' .. scanned[1]
redis.call('HSET', KEYS[1], ARGV[10], now, order, ARGV[1])
return { now, 0 }
