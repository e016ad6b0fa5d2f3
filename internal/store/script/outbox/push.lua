-- push carries an outbox entry on: it puts a post on the homes of the author's next
-- followers in this partition, or on the next lists that hold the author, and tells those
-- that are online. It acts only from the
-- position the caller expects, so a repeat, late or early, does nothing.
--
-- The position is the score of the last follower served. It is marked with '*' while a
-- call works: a call that broke off half-way (a slot on the move takes keys out from
-- under a script) is repeated with a look into every list.
--
-- An author who had too many followers to push to and no longer does may have posts that
-- wait to be pulled: each home gets those first, and with the last one they are forgotten.
--
-- KEYS   1 progress   2 followers, or lists   3 online   4 online nodes   5 merged
--        6 pulled   7 large authors
-- ARGV   1 entry   2 position expected, '' at first   3 post   4 followers a call
--        5 followers a call where lists are looked into   6 cap   7 slack
--        8 milliseconds after which lists are looked into   9 PUBLISH or SPUBLISH
--        10 channel prefix   11 field of the position   12 'h' for homes, 'l' for lists
--        13 and 14 what stands before and after an id in a key   15 author   16 tag
-- Reply  { position now, lists pushed to }
--@include clock
--@include ids
--@include progress
--@include list
--@include weave
--@include publish
--@include sync

local entry, post = ARGV[1], ARGV[3]
local lane = lane_of(ARGV[12], ARGV[15])
local position = position_of(KEYS[1], entry, ARGV[11], lane)
if position == 'done' or position ~= ARGV[2] then
  return { position, 0 }
end
local score, broken = string.match(position, '^(%d*)(%*?)$')
if broken == '' then
  redis.call('HSET', KEYS[1], ARGV[11], score .. '*', lane, entry)
end

local chunk, checked_chunk = tonumber(ARGV[4]), tonumber(ARGV[5])
-- Without their scores: printing 500 of them costs more than many a push.
local found = redis.call('ZRANGEBYSCORE', KEYS[2], score == '' and '-inf' or '(' .. score, '+inf', 'LIMIT', 0, chunk)
local count = #found

-- Posts that were queued long ago, or seem to come from the future, may have been merged
-- into lists whose mark is gone.
local age = unix_ms() - stream_id(entry)
local suspect = broken == '*' or math.abs(age) > tonumber(ARGV[8])
local waiting = ARGV[12] == 'h' and redis.call('EXISTS', KEYS[6]) == 1
suspect = suspect or waiting
local mergers = redis.call('EXISTS', KEYS[5]) == 1
local watchers = redis.call('EXISTS', KEYS[3]) == 1
local readers, merged, online = {}, {}, {}
if count > 0 and (mergers or watchers) then
  for i = 1, count do
    readers[i] = ARGV[12] .. found[i]
  end
  merged = mergers and redis.call('SMISMEMBER', KEYS[5], unpack(readers)) or {}
  online = watchers and redis.call('SMISMEMBER', KEYS[3], unpack(readers)) or {}
end

local call, prefix, suffix = redis.call, ARGV[13], ARGV[14]
local cap = tonumber(ARGV[6])
local slack = tonumber(ARGV[7])
local most = cap + slack
local names, heads, pushed, checked, served = {}, {}, 0, 0, 0
-- Nobody to tell and nothing to look into, as it is nearly always: the loop below
-- without its questions.
if not (suspect or mergers or watchers) then
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
    sync(ARGV[16], found[i], { ARGV[15] }, cap, slack,
      announcement(KEYS[4], ARGV[9], ARGV[10], 'h' .. found[i]))
    call('HDEL', ARGV[16] .. 'pull_watermarks:' .. found[i], ARGV[15])
  end
  local before = online[i] == 1 and head(list)
  local held = false
  if suspect or merged[i] == 1 then
    checked = checked + 1
    held = call('LPOS', list, post)
  end
  if not held then
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
redis.call('HSET', KEYS[1], ARGV[11], now)
if waiting and now == 'done' then
  redis.call('DEL', KEYS[6])
  redis.call('SREM', KEYS[7], ARGV[15])
end
publish(KEYS[4], ARGV[9], ARGV[10], '+ ' .. post, names, heads)
return { now, pushed }
