-- add_member writes both directions of a membership and queues the back-fill of the list's timeline.
-- It does not change an existing membership.
--
-- KEYS   1 list   2 members   3 lists of this partition that contain the author   4 clock   5 outbox
--        6 lists of the owner
-- ARGV   1 owner   2 list   3 author   4 maximum number of members   5 outbox limit
--        6 origin of the entry: see lib/enqueue.lua   7 maximum number of lists of the owner that contain the author
-- Reply  'ok', 'missing', 'forbidden' if the list has another owner, 'limit', 'listed' if enough lists of the owner
--        contain the author, or 'full'
--@include clock
--@include listowner
--@include rows
--@include members
--@include enqueue

local state = check_owner(KEYS[1], ARGV[1])
if state ~= 'ok' or redis.call('ZSCORE', KEYS[2], ARGV[3]) then
  return state
end
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[4]) then
  return 'limit'
end
if redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[7]) then
  local listed = 0
  for _, is_listed in ipairs(are_members(KEYS[3], redis.call('ZRANGE', KEYS[6], 0, -1))) do
    listed = listed + (is_listed and 1 or 0)
  end
  if listed >= tonumber(ARGV[7]) then
    return 'listed'
  end
end
if redis.call('XLEN', KEYS[5]) >= tonumber(ARGV[5]) then
  return 'full'
end
local instant = string.format('%.0f', tick(KEYS[4]))
redis.call('ZADD', KEYS[2], instant, ARGV[3])
redis.call('ZADD', KEYS[3], instant, ARGV[2])
local entry = { 'kind', 'backfill', 'timeline', 'l' .. ARGV[2], 'author', ARGV[3], 'score', instant, 'owner', ARGV[1] }
enqueue(KEYS[5], entry, ARGV[6])
return 'ok'
