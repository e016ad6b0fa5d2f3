-- events_since tells what happened to a timeline after a position, in one step.
--
-- KEYS   1 list   2 hash of the generation, or any without   3 removals
--        4… see lib/pullonread.lua   6 following   7 what it belongs to: a user, a list, or any for the public one
-- ARGV   1 kind: 'h' home, 'l' list, 'u' profile, 'm' mentions, 'p' public   2 owner   3 post it stood at
--        4 last removal seen   5 entries at the most   6 removals at the most
--        7 removals kept   8… see lib/pullonread.lua
-- Reply  { generation, last removal, newest entry or '0', last entry or '', '1' when
--        everything since the position is held else '0', entries newest first,
--        { removal, post, author, … } oldest first }, or nothing when it is gone with what
--        it belongs to
--@include ids
--@include list
--@include merge
--@include publish
--@include progress
--@include mergemarks
--@include pull
--@include pullonread
--@include idle

if ARGV[1] ~= 'p' then
  local state = redis.call('HGET', KEYS[7], 'state')
  if state ~= 'active' and state ~= 'deleting' then
    return {}
  end
end
record_read(KEYS[2])
pull_on_read(KEYS, ARGV, 8)

local kind, owner, post = ARGV[1], ARGV[2], ARGV[3]
local most = tonumber(ARGV[5])
local held, entries = '1', {}

if kind == 'u' then
  -- A profile is sorted by id, and deleted posts have left it.
  local from = 0
  while true do
    local chunk = redis.call('LRANGE', KEYS[1], from, from + 99)
    local over = false
    for _, entry in ipairs(chunk) do
      if not below(post, entry) then
        over = true
        break
      end
      entries[#entries + 1] = entry
    end
    if not over and #chunk < 100 and redis.call('HEXISTS', KEYS[7], 'profile_trimmed') == 1 then
      held, entries = '0', {} -- it no longer goes back as far
    end
    if over or #chunk < 100 then
      break
    end
    if #entries >= most then
      held, entries = '0', {}
      break
    end
    from = from + 100
  end
else
  local at = redis.call('LPOS', KEYS[1], post)
  if at and at <= most then
    if at > 0 then
      entries = redis.call('LRANGE', KEYS[1], 0, at - 1)
    end
  elseif not (post == '0' and redis.call('EXISTS', KEYS[1]) == 0) then
    held = '0'
  end
end

local places
local function holds(removed_post)
  if not places then
    places = {}
    for _, entry in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
      places[entry] = true
    end
  end
  return places[removed_post]
end

-- An author whose account ended is followed by nobody any more; what the list held of the
-- author's posts it holds still.
local function concerns(author, removed_post)
  if kind == 'p' then
    return true
  elseif kind == 'm' then
    return holds(removed_post)
  elseif kind ~= 'l' and author == owner then
    return true
  end
  return kind ~= 'u' and (redis.call('ZSCORE', KEYS[6], author) or holds(removed_post))
end

local removed = {}
local recorded = redis.call('XRANGE', KEYS[3], '(' .. ARGV[4], '+', 'COUNT', tonumber(ARGV[6]) + 1)
if #recorded > tonumber(ARGV[6]) then
  held = '0'
elseif #recorded > 0 and redis.call('XLEN', KEYS[3]) >= tonumber(ARGV[7]) then
  local oldest = redis.call('XRANGE', KEYS[3], '-', '+', 'COUNT', 1)
  if oldest[1][1] == recorded[1][1] then
    held = '0'
  end
end
if held == '1' then
  for _, entry in ipairs(recorded) do
    local fields = entry[2]
    if concerns(fields[4], fields[2]) then
      removed[#removed + 1] = entry[1]
      removed[#removed + 1] = fields[2]
      removed[#removed + 1] = fields[4]
    end
  end
end

local last = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)
return {
  redis.call('HGET', KEYS[2], 'epoch') or '0',
  last[1] and last[1][1] or '0-0',
  head(KEYS[1]),
  redis.call('LINDEX', KEYS[1], -1) or '',
  held,
  entries,
  removed,
}
