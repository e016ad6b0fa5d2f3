-- announce_removal delivers the deletion of a post. It adds a change to the partition's changes, once, and publishes the removal to
-- the next watched timelines: homes of followers of the author or of a reposter, lists that contain one of them, or all watched
-- timelines. The lists keep the post; reads skip it.
--
-- The progress is the score of the last follower processed, or the cursor of a scan of the watched timelines.
--
-- KEYS   1 progress   2 followers, lists, or online   3 online   4 online nodes
--        5 changes
-- ARGV   1 entry   2 expected progress, '' at first   3 post   4 author   5 followers per call
--        6 changes to keep; 0 if the author's own script or the call for the followers adds the
--        change   7 PUBLISH or SPUBLISH   8 channel prefix   9 field of the progress
--        10 'h' for homes, 'l' for lists, '' for all watched timelines   11… further timelines of this partition
-- Reply  { progress, 0 }
--@include progress
--@include publish
--@include changes

local entry, post = ARGV[1], ARGV[3]
local progress = entry_progress(KEYS[1], entry, ARGV[9])
if progress == 'done' or progress ~= ARGV[2] then
  return { progress, 0 }
end
if progress == '' and ARGV[6] ~= '0' then
  add_change(KEYS[5], ARGV[6], 'removed', post, ARGV[4])
end

local now = 'done'
if redis.call('SCARD', KEYS[3]) > 0 then
  local chunk = tonumber(ARGV[5])
  local names = {}
  if ARGV[10] == '' then
    local cursor, found = unpack(redis.call('SSCAN', KEYS[2], progress == '' and '0' or progress, 'COUNT', chunk))
    for _, name in ipairs(found) do
      if string.sub(name, 1, 1) ~= 'c' then -- processes that receive counts are no timelines: see retwis.PostCounts
        names[#names + 1] = name
      end
    end
    now = cursor == '0' and 'done' or cursor
  else
    local found = redis.call('ZRANGEBYSCORE', KEYS[2], progress == '' and '-inf' or '(' .. progress, '+inf',
      'WITHSCORES', 'LIMIT', 0, chunk)
    for i = 1, #found, 2 do
      names[#names + 1] = ARGV[10] .. found[i]
    end
    if #found == 2 * chunk then
      now = found[#found]
    end
  end
  if progress == '' then
    for i = 11, #ARGV do
      names[#names + 1] = ARGV[i]
    end
  end
  publish(KEYS[4], ARGV[7], ARGV[8], '- ' .. post .. ' ' .. ARGV[4], watched(KEYS[3], names))
end
redis.call('HSET', KEYS[1], ARGV[9], now)
return { now, 0 }
