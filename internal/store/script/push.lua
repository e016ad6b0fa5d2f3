-- push carries an outbox entry on: it puts a post on the homes of the author's next
-- followers in this partition and tells those who are online. It acts only from the
-- position the caller expects, so a repeat, late or early, does nothing.
--
-- The position is the score of the last follower served. It is marked with '*' while a
-- call works: a call that broke off half-way (a slot on the move takes keys out from
-- under a script) is repeated with a look into every list.
--
-- KEYS   1 progress   2 followers   3 online   4 online nodes   5 merged
-- ARGV   1 entry   2 position expected, '' at first   3 post   4 followers a call
--        5 followers a call where lists are looked into   6 cap   7 slack   8 home key prefix
--        9 milliseconds after which lists are looked into   10 PUBLISH or SPUBLISH
--        11 channel prefix
-- Reply  { position now, lists pushed to }
--@include clock
--@include progress
--@include list
--@include publish

local entry, post = ARGV[1], ARGV[3]
local position = position_of(KEYS[1], entry, entry)
if position == 'done' or position ~= ARGV[2] then
  return { position, 0 }
end
local score, broken = string.match(position, '^(%d*)(%*?)$')
if broken == '' then
  redis.call('HSET', KEYS[1], entry, score .. '*')
end

local chunk, checked_chunk = tonumber(ARGV[4]), tonumber(ARGV[5])
local found = redis.call('ZRANGEBYSCORE', KEYS[2], score == '' and '-inf' or '(' .. score, '+inf',
  'WITHSCORES', 'LIMIT', 0, chunk)
local readers = {}
for i = 1, #found, 2 do
  readers[#readers + 1] = 'h' .. found[i]
end

-- Posts that were queued long ago, or seem to come from the future, may have been merged
-- into lists whose mark is gone.
local age = unix_ms() - stream_id(entry)
local suspect = broken == '*' or math.abs(age) > tonumber(ARGV[9])
local merged = {}
if not suspect and #readers > 0 and redis.call('EXISTS', KEYS[5]) == 1 then
  merged = redis.call('SMISMEMBER', KEYS[5], unpack(readers))
end
local online = {}
if #readers > 0 and redis.call('EXISTS', KEYS[3]) == 1 then
  online = redis.call('SMISMEMBER', KEYS[3], unpack(readers))
end

local cap, slack = tonumber(ARGV[6]), tonumber(ARGV[7])
local names, heads, pushed, checked, served = {}, {}, 0, 0, 0
for i, reader in ipairs(readers) do
  local list = ARGV[8] .. found[2 * i - 1]
  local before = online[i] == 1 and head(list)
  local held = false
  if suspect or merged[i] == 1 then
    checked = checked + 1
    held = redis.call('LPOS', list, post)
  end
  if not held then
    if push(list, post, cap, slack) then
      pushed = pushed + 1
    end
    if before then
      names[#names + 1] = reader
      heads[#heads + 1] = before
    end
  end
  served = i
  if checked >= checked_chunk then
    break
  end
end

local now = 'done'
if served < #readers or #readers == chunk then
  now = found[2 * served]
end
redis.call('HSET', KEYS[1], entry, now)
publish(KEYS[4], ARGV[10], ARGV[11], '+ ' .. post, names, heads)
return { now, pushed }
