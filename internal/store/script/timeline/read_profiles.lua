-- read_profiles reads ranges of several profiles of one partition. Profiles are sorted by id, newest
-- first, so a binary search finds the place of any post, also of a deleted one.
--
-- KEYS   1 clock   2 outbox   3 progress of the outbox in its own partition   4… profiles
-- ARGV   1 'older' or 'newer'   2 count   3 '1' to return the state of the partition; then for each
--        profile the leading id to start from, exclusive: '' for the newest (older) or the oldest (newer)
-- Reply  { clock, watermark of the outbox or '', last entry above the watermark or '' }, or {}; then
--        for each profile up to count entries, newest first, nearest to the start
--@include ids
--@include search
--@include progress

local function partition_state()
  local watermark = redis.call('HGET', KEYS[3], 'watermark') or ''
  local newest = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
  local last = newest[1] and newest[1][1] or ''
  if last ~= '' and watermark ~= '' and up_to(last, watermark) then
    last = ''
  end
  return { redis.call('GET', KEYS[1]) or '0', watermark, last }
end

local count = tonumber(ARGV[2])
local replies = { ARGV[3] == '1' and partition_state() or {} }
for i = 4, #KEYS do
  local profile, id, found = KEYS[i], ARGV[i], nil
  if ARGV[1] == 'older' then
    local from = id == '' and 0 or first_below(profile, id)
    found = redis.call('LRANGE', profile, from, from + count - 1)
  else
    local to = redis.call('LLEN', profile)
    if id ~= '' then
      to = first_below(profile, id)
      if to > 0 and leading(redis.call('LINDEX', profile, to - 1)) == id then
        to = to - 1
      end
    end
    found = to > 0 and redis.call('LRANGE', profile, math.max(0, to - count), to - 1) or {}
  end
  replies[i - 2] = found
end
return replies
