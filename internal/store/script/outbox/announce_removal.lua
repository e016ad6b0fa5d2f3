-- announce_removal delivers the deletion of a post. It adds a change to the partition's changes, once, and publishes the removal to
-- the next watched timelines: homes of followers of the author or of a reposter, lists that contain one of them, or all watched
-- timelines. The lists keep the post; reads skip it.
--
-- It walks over the followers, or over the watched timelines if these are fewer: the author of a post with many reposts may be on thousands of lists
-- that nobody watches. The progress is the score of the last follower processed, or 'w' and the cursor of a scan of the watched timelines.
--
-- KEYS   1 progress   2 followers, lists, or online   3 online   4 online nodes
--        5 changes
-- ARGV   1 entry   2 expected progress, '' at first   3 post   4 author   5 followers per call; 0 to announce it only to the further timelines
--        6 changes to keep; 0 if the author's own script or the call for the followers adds the
--        change   7 PUBLISH or SPUBLISH   8 channel prefix   9 field of the progress
--        10 'h' for homes, 'l' for lists, '' for all watched timelines   11… further timelines of this partition
-- Reply  { progress, watched timelines to which the removal was published, followers, lists or watched timelines that were looked at }
--@include rows
--@include members
--@include progress
--@include publish
--@include changes

local entry, post = ARGV[1], ARGV[3]
local progress = entry_progress(KEYS[1], entry, ARGV[9])
if progress == 'done' or progress ~= ARGV[2] then
  return { progress, 0, 0 }
end
if progress == '' and ARGV[6] ~= '0' then
  add_change(KEYS[5], ARGV[6], 'removed', post, ARGV[4])
end

-- next_followers returns the timelines of the next followers, or the next lists, the new progress, and how many it has looked at.
local function next_followers(kind, chunk)
  local found = redis.call('ZRANGEBYSCORE', KEYS[2], progress == '' and '-inf' or '(' .. progress, '+inf', 'LIMIT', 0, chunk)
  local last = #found == chunk and redis.call('ZSCORE', KEYS[2], found[#found]) -- all scores would take as long as the members
  for i, name in ipairs(found) do
    found[i] = kind .. name
  end
  return found, last or 'done', #found
end

-- next_watched returns the same of the next watched timelines: those of a kind that belong to followers, or all.
local function next_watched(kind, chunk)
  local cursor, found = unpack(redis.call('SSCAN', KEYS[3], string.match(progress, '%d+') or '0', 'COUNT', chunk))
  local names, owners = {}, {}
  for _, name in ipairs(found) do
    local is = string.sub(name, 1, 1)
    if kind == '' and is ~= 'c' then -- processes that receive counts are no timelines: see retwis.PostCounts
      names[#names + 1] = name
    elseif is == kind then
      owners[#owners + 1] = string.sub(name, 2)
    end
  end
  if #owners > 0 then
    for i, score in ipairs(scores_of(KEYS[2], owners)) do
      if score then
        names[#names + 1] = kind .. owners[i]
      end
    end
  end
  return names, cursor == '0' and 'done' or 'w' .. cursor, #found
end

local now, online, found, visited = 'done', redis.call('SCARD', KEYS[3]), {}, 0
if online > 0 then
  local kind, chunk = ARGV[10], tonumber(ARGV[5])
  local names = {}
  if chunk > 0 then
    local scans = kind == '' or string.sub(progress, 1, 1) == 'w' or (progress == '' and online < redis.call('ZCARD', KEYS[2]))
    names, now, visited = (scans and next_watched or next_followers)(kind, chunk)
  end
  if progress == '' then
    for i = 11, #ARGV do
      names[#names + 1] = ARGV[i]
    end
  end
  found = watched(KEYS[3], names)
  publish(KEYS[4], ARGV[7], ARGV[8], '- ' .. post .. ' ' .. ARGV[4], found)
end
redis.call('HSET', KEYS[1], ARGV[9], now)
return { now, #found, visited }
