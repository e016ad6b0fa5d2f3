-- read_list reads a range of the list of a timeline, and the position of the timeline, atomically.
--
-- KEYS   1 list   2 hash of the epoch, or a missing key   3 removals
--        4 and 5 see lib/pullonread.lua
-- ARGV   1 'top', 'after', 'before' or 'all'   2 post, for after and before   3 count
--        4… see lib/pullonread.lua
-- Reply  { epoch, last removal, newest entry or '0', last entry or '', index of the first entry
--        returned or -1 if the list does not hold the post, entries }
--@include ids
--@include list
--@include merge
--@include publish
--@include progress
--@include mergemarks
--@include pull
--@include pullonread
--@include idle

record_read(KEYS[2])
pull_on_read(KEYS, ARGV, 4)

local mode, count = ARGV[1], tonumber(ARGV[3])
local from, to = 0, count - 1
if mode == 'all' then
  to = redis.call('LLEN', KEYS[1]) - 1
elseif mode ~= 'top' then
  local at = redis.call('LPOS', KEYS[1], ARGV[2])
  if not at then
    from, to = -1, -2
  elseif mode == 'after' then
    from, to = at + 1, at + count
  else
    from, to = math.max(0, at - count), at - 1
  end
end
local entries = {}
if from >= 0 and to >= from then
  entries = redis.call('LRANGE', KEYS[1], from, to)
end
local removal = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)
return {
  redis.call('HGET', KEYS[2], 'epoch') or '0',
  removal[1] and removal[1][1] or '0-0',
  head(KEYS[1]),
  redis.call('LINDEX', KEYS[1], -1) or '',
  from,
  entries,
}
