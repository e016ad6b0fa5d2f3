-- push carries an outbox entry on: it puts a post on the homes of the author's next
-- followers in this partition, or on the next lists that hold the author, and tells those
-- that are online. It acts only from the
-- position the caller expects, so a repeat, late or early, does nothing.
--
-- The position is the score of the last follower served. It is marked with '*' while a
-- call works: a call that broke off half-way (a slot on the move takes keys out from
-- under a script) is repeated with a look into every list.
--
-- A list that a merge has marked does not get posts at or below the mark on top: see
-- mergemarks.
--
-- An author who had too many followers to push to and no longer does may have posts that
-- wait to be pulled: each home gets those first, and with the last one they are forgotten.
--
-- KEYS   1 progress   2 followers, or lists   3 online   4 online nodes   5 merge marks
--        6 older merge marks   7 pulled   8 large authors
-- ARGV   1 entry   2 position expected, '' at first   3 post   4 followers a call
--        5 followers a call where lists are looked into   6 cap   7 slack
--        8 PUBLISH or SPUBLISH   9 channel prefix   10 field of the position
--        11 'h' for homes, 'l' for lists   12 and 13 what stands before and after an id in a
--        key   14 what stands before an id in the key of the generation   15 author   16 tag
-- Reply  { position now, lists pushed to }
--@include ids
--@include list
--@include merge
--@include publish
--@include progress
--@include mergemarks
--@include pull

local entry, post, kind, author = ARGV[1], ARGV[3], ARGV[11], ARGV[15]
local order = order_field(kind, author)
local position = entry_progress(KEYS[1], entry, ARGV[10], order)
if position == 'done' or position ~= ARGV[2] then
  return { position, 0 }
end
local score, broken = string.match(position, '^(%d*)(%*?)$')
if broken == '' then
  redis.call('HSET', KEYS[1], ARGV[10], score .. '*', order, entry)
end

local chunk, checked_chunk = tonumber(ARGV[4]), tonumber(ARGV[5])
-- Without their scores: printing 500 of them costs more than many a push.
local found = redis.call('ZRANGEBYSCORE', KEYS[2], score == '' and '-inf' or '(' .. score, '+inf', 'LIMIT', 0, chunk)
local count = #found

local waiting = kind == 'h' and redis.call('EXISTS', KEYS[7]) == 1
local looks = broken == '*' or waiting
local marks = merge_marks_after(KEYS[5], KEYS[6], post)
local watchers = redis.call('EXISTS', KEYS[3]) == 1
local readers, merged, online = {}, {}, {}
if count > 0 and (#marks > 0 or watchers) then
  for i = 1, count do
    readers[i] = kind .. found[i]
  end
  merged = merged_already(marks, readers, author, post)
  online = watchers and redis.call('SMISMEMBER', KEYS[3], unpack(readers)) or {}
end

local call, prefix, suffix = redis.call, ARGV[12], ARGV[13]
local cap, slack = tonumber(ARGV[6]), tonumber(ARGV[7])
local most = cap + slack
local names, heads, changed, pushed, checked, served = {}, {}, {}, 0, 0, 0
-- Nobody to tell and nothing to look into, as it is nearly always: the loop below
-- without its questions.
if not (looks or watchers) and next(merged) == nil then
  for i = 1, count do
    local length = call('LPUSHX', prefix .. found[i] .. suffix, post)
    if length > most then
      trim(prefix .. found[i] .. suffix, cap)
    end
    if length == 0 then
      pushed = pushed - 1
    end
  end
  pushed, served = pushed + count, count
end
for i = served + 1, count do
  local list = prefix .. found[i] .. suffix
  if waiting then
    pull_posts(ARGV[16], found[i], { author }, cap, slack,
      announcement(KEYS[4], ARGV[8], ARGV[9], 'h' .. found[i]))
    call('HDEL', ARGV[16] .. 'pull_watermarks:' .. found[i], author)
  end
  if looks or merged[i] then
    checked = checked + 1
  end
  if merged[i] then
    if insert_post(list, post, cap) then
      pushed = pushed + 1
      call('HINCRBY', ARGV[14] .. found[i], 'epoch', 1)
      if online[i] == 1 then
        changed[#changed + 1] = readers[i]
      end
    end
  elseif not (looks and call('LPOS', list, post)) then
    local before = online[i] == 1 and head(list)
    local length = call('LPUSHX', list, post)
    if length > 0 then
      pushed = pushed + 1
    end
    if length > most then
      trim(list, cap)
    end
    if before then
      names[#names + 1] = readers[i]
      heads[#heads + 1] = before
    end
  end
  served = i
  if checked >= checked_chunk then
    break
  end
end

local now = 'done'
if served < count or count == chunk then
  now = redis.call('ZSCORE', KEYS[2], found[served])
end
redis.call('HSET', KEYS[1], ARGV[10], now)
if waiting and now == 'done' then
  redis.call('DEL', KEYS[7])
  redis.call('SREM', KEYS[8], author)
end
publish(KEYS[4], ARGV[8], ARGV[9], '+ ' .. post, names, heads)
publish(KEYS[4], ARGV[8], ARGV[9], '!', changed)
return { now, pushed }
