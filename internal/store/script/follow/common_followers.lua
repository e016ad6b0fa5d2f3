-- common_followers looks for the common followers of two users in this partition: it
-- walks a stretch of one set, the smaller unless told, and looks its members up in the
-- other. Of those found it returns how many there are, and the nearest to a place by when
-- they began to follow the first user.
--
-- KEYS   1 followers of the first user   2 followers of the other
-- ARGV   1 key of the set to walk, '1' or '2'; '' for the smaller   2 score walked up to, ''
--        at first   3 members a call   4 score of the place, '' for the end   5 'older' or
--        'newer' than the place, which is included   6 how many of them
-- Reply  { key walked, score walked up to or '' at the end, common followers, { follower,
--        score among the followers of the first, … } in no order }

local walked = tonumber(ARGV[1])
local sizes = { redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]) }
if not walked then
  walked = sizes[1] <= sizes[2] and 1 or 2
end
local other = 3 - walked

local chunk = tonumber(ARGV[3])
local stretch = redis.call('ZRANGEBYSCORE', KEYS[walked], ARGV[2] == '' and '-inf' or '(' .. ARGV[2], '+inf',
  'WITHSCORES', 'LIMIT', 0, chunk)
local count = #stretch / 2
if count == 0 then
  return { tostring(walked), '', 0, {} }
end
local names = {}
for i = 1, count do
  names[i] = stretch[2 * i - 1]
end

-- A set that may be packed is searched from its beginning for each member: for many
-- members it is cheaper to read it once.
local PACKED, FEW = 1024, 50
local there
if sizes[other] <= PACKED and count > FEW then
  local score = {}
  local all = redis.call('ZRANGE', KEYS[other], 0, -1, 'WITHSCORES')
  for i = 1, #all, 2 do
    score[all[i]] = all[i + 1]
  end
  there = {}
  for i, name in ipairs(names) do
    there[i] = score[name] or false
  end
else
  there = redis.call('ZMSCORE', KEYS[other], unpack(names))
end

local older, wanted = ARGV[5] == 'older', tonumber(ARGV[6])
local place = tonumber(ARGV[4])
local common, followers, scores, sorted = 0, {}, {}, {}
for i = 1, count do
  if there[i] then
    common = common + 1
    local score = walked == 1 and stretch[2 * i] or there[i]
    local at = tonumber(score)
    if not place or (older and at <= place) or (not older and at >= place) then
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
return { tostring(walked), count == chunk and stretch[2 * count] or '', common, nearest }
