-- remove carries the deletion of a post on: it enters it among the partition's removals,
-- once, and tells the author's next followers who are online, and the public timeline's
-- readers. The lists keep the id; readers skip it.
--
-- The position is the score of the last follower told.
--
-- KEYS   1 progress   2 followers   3 online   4 online nodes   5 removals
-- ARGV   1 entry   2 position expected, '' at first   3 post   4 author   5 followers a call
--        6 removals kept; 0 where the author's own script entered it already
--        7 PUBLISH or SPUBLISH   8 channel prefix
-- Reply  { position now, 0 }
--@include progress
--@include publish

local entry, post = ARGV[1], ARGV[3]
local position = position_of(KEYS[1], entry, entry)
if position == 'done' or position ~= ARGV[2] then
  return { position, 0 }
end
if position == '' and ARGV[6] ~= '0' then
  redis.call('XADD', KEYS[5], 'MAXLEN', ARGV[6], '*', 'post', post, 'author', ARGV[4])
end

local now = 'done'
if redis.call('SCARD', KEYS[3]) > 0 then
  local chunk = tonumber(ARGV[5])
  local found = redis.call('ZRANGEBYSCORE', KEYS[2], position == '' and '-inf' or '(' .. position, '+inf',
    'WITHSCORES', 'LIMIT', 0, chunk)
  local names = {}
  for i = 1, #found, 2 do
    names[#names + 1] = 'h' .. found[i]
  end
  if position == '' then
    names[#names + 1] = 'p'
  end
  if #found == 2 * chunk then
    now = found[#found]
  end
  publish(KEYS[4], ARGV[7], ARGV[8], '- ' .. post, watched(KEYS[3], names))
end
redis.call('HSET', KEYS[1], entry, now)
return { now, 0 }
