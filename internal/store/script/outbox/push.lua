-- push delivers a post or repost to the homes of the next followers of its author in this partition, or to the
-- next lists that contain the author, and publishes it to those that are watched. It acts only if
-- the stored progress is the expected one, so a repeat has no effect.
--
-- The progress is the score of the last follower served, '/', and the partition's clock at the first
-- call. Calls serve followers up to that clock only: the back-fill of a later follower reads the post.
-- Without this bound, a reader who was served, unfollowed and followed again would be served twice.
--
-- The progress ends in '*' while a call runs. Should an error stop the call halfway, the next call
-- searches the list of every follower whom the first one may have served before it pushes.
--
-- A list with a merge mark at or above the post does not get the post on top: see
-- lib/mergemarks.lua.
--
-- An author who used to be a large author may have posts that wait to be pulled. Each home pulls
-- those first. After the last home they are deleted.
--
-- KEYS   1 progress   2 followers, or lists that contain the author   3 online   4 online nodes
--        5 merge marks   6 older merge marks   7 pulled posts   8 large authors   9 clock
-- ARGV   1 entry   2 expected progress, '' at first   3 element   4 followers per call
--        5 followers per call whose lists are searched   6 cap   7 slack   8 PUBLISH or SPUBLISH
--        9 channel prefix   10 field of the progress   11 'h' for homes, 'l' for lists
--        12 and 13 prefix and suffix of list keys   14 prefix of the keys that hold epochs
--        15 author   16 tag of the partition and ':'   17 number of partitions
-- Reply  { progress, or 'late' for an element that has to be merged; lists that the element was pushed to; followers served, or lists; searches,
--        of which a search for repeats counts as four, and one of a whole list as one for 50 entries }
--@include ids
--@include list
--@include publish
--@include progress
--@include mergemarks

local entry, element, kind, author = ARGV[1], ARGV[3], ARGV[11], ARGV[15]
local order = order_field(kind, author)
local progress = entry_progress(KEYS[1], entry, ARGV[10], order)
if progress == 'done' or progress ~= ARGV[2] then
  return { progress, 0, 0, 0 }
end
local score, latest, interrupted = string.match(progress, '^(%d*)/(%d+)(%*?)$')
if progress == '' then
  score, latest, interrupted = '', redis.call('GET', KEYS[9]) or '0', ''
end
if interrupted == '' then
  redis.call('HSET', KEYS[1], ARGV[10], score .. '/' .. latest .. '*', order, entry)
end

local chunk, search_chunk = tonumber(ARGV[4]), tonumber(ARGV[5])
-- Scores are read below for one follower only: formatting 500 of them costs more than many pushes.
local found = redis.call('ZRANGEBYSCORE', KEYS[2], score == '' and '-inf' or '(' .. score, latest, 'LIMIT', 0, chunk)
local count = #found

local pulls = kind == 'h' and redis.call('EXISTS', KEYS[7]) == 1
local search = interrupted == '*' or pulls
local mark_keys = merge_marks_after(KEYS[5], KEYS[6], element)
local watched_any = redis.call('EXISTS', KEYS[3]) == 1
local readers, merged, online = {}, {}, {}
if count > 0 and (#mark_keys > 0 or watched_any) then
  for i = 1, count do
    readers[i] = kind .. found[i]
  end
  merged = merged_already(mark_keys, readers, author, element)
  online = watched_any and redis.call('SMISMEMBER', KEYS[3], unpack(readers)) or {}
end

local call, prefix, suffix, hash = redis.call, ARGV[12], ARGV[13], ARGV[14]
local cap, slack = tonumber(ARGV[6]), tonumber(ARGV[7])
local names, heads, changed, hidden, hidden_heads = {}, {}, {}, {}, {}
local pushed, served, searched = 0, 0, 0
-- The usual case: no list is searched or marked, and those that are watched show the element.
if not search and next(merged) == nil and (not watched_any or #element <= ID_DIGITS) then
  for i = 1, count do
    local list = prefix .. found[i] .. suffix
    local before = online[i] == 1 and head(list)
    if push(list, element, cap, slack, hash, found[i]) then
      pushed = pushed + 1
    end
    if before then
      names[#names + 1] = readers[i]
      heads[#heads + 1] = before
    end
  end
  served = count
else
  --@include search
  --@include merge
  --@include rows
  --@include members
  --@include visibility
  --@include repeats
  --@include pull
  local has_context = #element > ID_DIGITS
  local reposts = is_repost(element)
  -- hider_of returns a function that reports whether a home or list does not show an element. Its feed passes the element.
  local function hider_of(id)
    local properties = prefix .. id
    local reader = kind == 'h' and id or call('HGET', properties, 'owner')
    local is_source = new_members(kind == 'h' and ARGV[16] .. 'following:' .. id or properties .. ':members')
    return new_hider(kind, reader, is_source, ARGV[16] .. 'hidden_reposters:' .. id)
  end
  for i = 1, count do
    local list = prefix .. found[i] .. suffix
    if pulls then
      pull_posts(ARGV[16], tonumber(ARGV[17]), found[i], { author }, cap, slack,
        publish_to_home(KEYS[4], ARGV[8], ARGV[9], ARGV[16], found[i]))
      call('HDEL', ARGV[16] .. 'pull_watermarks:' .. found[i], author)
    end
    if search or merged[i] then
      searched = searched + 1
    end
    if merged[i] then
      local inserted, searches = insert_post(list, element, cap, hash .. found[i], mark_keys[1], readers[i])
      searched = searched + searches
      if inserted then
        pushed = pushed + 1
        call('HINCRBY', hash .. found[i], 'epoch', 1)
        if online[i] == 1 then
          changed[#changed + 1] = readers[i]
        end
      end
    elseif not (search and call('LPOS', list, element)) then
      local before = online[i] == 1 and head(list)
      if before and reposts then
        searched = searched + 4 -- may_repeat takes four times as long as LPOS
      end
      if push(list, element, cap, slack, hash, found[i]) then
        pushed = pushed + 1
      end
      local is_hidden = before and has_context and hider_of(found[i])
      if is_hidden and is_hidden(element) then
        hidden[#hidden + 1] = readers[i]
        hidden_heads[#hidden_heads + 1] = before
      elseif is_hidden and may_repeat(list, element, is_hidden) then
        changed[#changed + 1] = readers[i] -- the feed reads whether it shows the element
      elseif before then
        names[#names + 1] = readers[i]
        heads[#heads + 1] = before
      end
    end
    served = i
    if searched >= search_chunk and interrupted == '' then
      break -- after an interrupted call, the next one must not find followers that both have served
    end
  end
end

local now = 'done'
if served < count or count == chunk then
  now = redis.call('ZSCORE', KEYS[2], found[served]) .. '/' .. latest
end
redis.call('HSET', KEYS[1], ARGV[10], now)
if pulls and now == 'done' then
  redis.call('DEL', KEYS[7])
  redis.call('SREM', KEYS[8], author)
end
publish(KEYS[4], ARGV[8], ARGV[9], '+ ' .. element, names, heads)
publish(KEYS[4], ARGV[8], ARGV[9], '~ ' .. element, hidden, hidden_heads)
publish(KEYS[4], ARGV[8], ARGV[9], '!', changed)
return { now, pushed, served, searched }
