-- common_followers finds common followers of two users in this partition. It scans the next members
-- of one set, by default the smaller one, and looks them up in the other. It returns the number of
-- common followers found, and those nearest to a start score by the time they followed the first
-- user.
--
-- KEYS   1 followers of the first user   2 followers of the other user
-- ARGV   1 key of the set to scan, '1' or '2'; '' for the smaller one   2 score scanned up to, '' at
--        first   3 members per call   4 start score, '' for the end of the connection   5 'older' or
--        'newer': the direction from the start score, inclusive   6 number of followers to return
-- Reply  { key scanned, score scanned up to or '' at the end, common followers, { follower, score
--        among the followers of the first user, … } in no order, rows visited }
--@include rows
--@include members

local scanned = tonumber(ARGV[1])
local sizes = { redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]) }
if not scanned then
  scanned = sizes[1] <= sizes[2] and 1 or 2
end
local other = 3 - scanned

local chunk = tonumber(ARGV[3])
local range = redis.call('ZRANGEBYSCORE', KEYS[scanned], ARGV[2] == '' and '-inf' or '(' .. ARGV[2], '+inf',
  'WITHSCORES', 'LIMIT', 0, chunk)
local count = #range / 2
if count == 0 then
  return counted({ tostring(scanned), '', 0, {} })
end
local names = {}
for i = 1, count do
  names[i] = range[2 * i - 1]
end

local found = scores_of(KEYS[other], names)

local older, wanted = ARGV[5] == 'older', tonumber(ARGV[6])
local start = tonumber(ARGV[4])
local common, followers, scores, sorted = 0, {}, {}, {}
for i = 1, count do
  if found[i] then
    common = common + 1
    local score = scanned == 1 and range[2 * i] or found[i]
    local at = tonumber(score)
    if not start or (older and at <= start) or (not older and at >= start) then
      local n = #sorted + 1
      followers[n], scores[n], sorted[n] = names[i], score, at
    end
  end
end
table.sort(sorted)
local from, to = sorted[1], sorted[#sorted]
if #sorted > wanted and older then
  from = sorted[#sorted - wanted + 1]
elseif #sorted > wanted then
  to = sorted[wanted]
end
local nearest = {}
for i, follower in ipairs(followers) do
  local at = tonumber(scores[i])
  if at >= from and at <= to then
    nearest[#nearest + 1] = follower
    nearest[#nearest + 1] = scores[i]
  end
end
return counted({ tostring(scanned), count == chunk and range[2 * count] or '', common, nearest })
