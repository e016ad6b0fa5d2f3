-- announce_removal carries the deletion of a post on: it enters it among the partition's removals,
-- once, and tells those who are online of the author's next followers, or of the next
-- lists that hold the author. The lists keep the id; readers skip it.
--
-- The position is the score of the last one told.
--
-- KEYS   1 progress   2 followers, or lists   3 online   4 online nodes   5 removals
-- ARGV   1 entry   2 position expected, '' at first   3 post   4 author   5 followers a call
--        6 removals kept; 0 where it is entered already, by the author's own script or by
--        the call for the followers   7 PUBLISH or SPUBLISH   8 channel prefix
--        9 field of the position   10 'h' for homes, 'l' for lists
--        11… timelines of this partition to tell besides
-- Reply  { position now, 0 }
--@include progress
--@include publish

local entry, post = ARGV[1], ARGV[3]
local position = entry_progress(KEYS[1], entry, ARGV[9])
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
    names[#names + 1] = ARGV[10] .. found[i]
  end
  if position == '' then
    for i = 11, #ARGV do
      names[#names + 1] = ARGV[i]
    end
  end
  if #found == 2 * chunk then
    now = found[#found]
  end
  publish(KEYS[4], ARGV[7], ARGV[8], '- ' .. post .. ' ' .. ARGV[4], watched(KEYS[3], names))
end
redis.call('HSET', KEYS[1], ARGV[9], now)
return { now, 0 }
