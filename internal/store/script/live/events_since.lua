-- events_since reads the history of a timeline after a position, atomically.
--
-- KEYS   1 list   2 hash of the epoch, or a missing key   3 changes   4 large authors   5 online nodes
--        6 sources   7 owner: account, properties of the list, record of the hashtag, or any key for the public timeline
--        8 of a home: users whose reposts it does not show, else a missing key
-- ARGV   1 kind: 'h' home, 'l' list, 'u' profile, 'r' profile with replies, 'm' mentions,
--        'p' public, 't' hashtag   2 owner
--        3 entry of the position   4 last change of the position   5 maximum number of entries
--        6 maximum number of changes   7 changes that the stream keeps   8 field of the marker, '' for none
--        9 entries that the position names below its own, nearest first, separated by spaces   10… see lib/pullonread.lua
-- Reply  { epoch, last change, newest entry or '0', last entry or '', '1' if the history since the
--        position is complete, 'reordered' if the list has other entries below the position, else '0', entries newest first, { change, post, author, … } oldest
--        first, marker or '', indexes of the entries that the timeline does not show, same posts as of lib/repeats.lua,
--        filter epoch of the owner or '', rows visited }; {} if the owner of the timeline no longer exists
--@include rows
--@include ids
--@include list
--@include members
--@include visibility
--@include repeats
--@include idle
--@include changes

if ARGV[1] ~= 'p' then
  local state = redis.call('HGET', KEYS[7], 'state')
  if state ~= 'active' and state ~= 'deleting' then
    return {}
  end
end
if ARGV[10] ~= '' and redis.call('EXISTS', KEYS[4]) == 1 then
  --@include search
  --@include merge
  --@include publish
  --@include progress
  --@include mergemarks
  --@include pull
  --@include pullonread
  pull_on_read(KEYS[4], KEYS[5], ARGV, 10)
end
local epoch = record_read(KEYS[2])

-- reordered reports whether the list has other entries below an index than those that the position names. Within an epoch a list
-- only grows on top and is trimmed at its end, unless a failover loses entries, which are then delivered again in another order.
local function reordered(at)
  local below = at + 1
  for named in string.gmatch(ARGV[9], '%S+') do
    local entry = redis.call('LINDEX', KEYS[1], below)
    if not entry or entry == 'b' then
      return false -- trimmed
    elseif entry ~= named then
      return true
    end
    below = below + 1
  end
  return false
end

local kind, owner, position = ARGV[1], ARGV[2], ARGV[3]
local most = tonumber(ARGV[5])
local complete, entries = '1', {}

if kind == 'u' or kind == 'r' then
  -- A profile is sorted by id and does not contain deleted posts.
  local from = 0
  while true do
    local chunk = redis.call('LRANGE', KEYS[1], from, from + 99)
    local over = false
    for _, entry in ipairs(chunk) do
      if not below(position, entry) then
        over = true
        break
      end
      entries[#entries + 1] = entry
    end
    if not over and #chunk < 100 and redis.call('HEXISTS', KEYS[7], 'profile_trimmed') == 1 then
      complete, entries = '0', {} -- posts after the position were trimmed
    end
    if over or #chunk < 100 then
      break
    end
    if #entries >= most then
      complete, entries = '0', {}
      break
    end
    from = from + 100
  end
else
  local at = redis.call('LPOS', KEYS[1], position, 'MAXLEN', most + 1)
  if at then
    if reordered(at) then
      complete = 'reordered'
    elseif at > 0 then
      entries = redis.call('LRANGE', KEYS[1], 0, at - 1)
    end
  elseif not (position == '0' and redis.call('EXISTS', KEYS[1]) == 0) then
    complete = '0'
  end
end

-- holds reports whether the list holds an entry that shows a post.
local shown_posts
local function holds(post)
  if not shown_posts then
    shown_posts = {}
    for _, entry in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
      shown_posts[shown(entry)] = true
      visit(1)
    end
  end
  return shown_posts[post]
end

local is_source = new_members(KEYS[6])

-- concerns reports whether a change of a post changes the timeline. Nobody follows a deleted author any more, but
-- the list may still hold the author's posts.
local function concerns(author, removed_post)
  if kind == 'p' then
    return true
  elseif kind == 'm' or kind == 't' then
    return holds(removed_post)
  elseif kind ~= 'l' and author == owner then
    return true
  end
  return kind ~= 'u' and kind ~= 'r' and (is_source(author) or holds(removed_post))
end

local removed = {}
local recorded = redis.call('XRANGE', KEYS[3], '(' .. ARGV[4], '+', 'COUNT', tonumber(ARGV[6]) + 1)
if #recorded > tonumber(ARGV[6]) then
  complete = '0'
elseif #recorded > 0 and redis.call('XLEN', KEYS[3]) >= tonumber(ARGV[7]) then
  local oldest = redis.call('XRANGE', KEYS[3], '-', '+', 'COUNT', 1)
  if oldest[1][1] == recorded[1][1] then
    complete = '0'
  end
end
-- A hidden post is removed from the timelines of readers, unless it was restored later. The replay cannot describe
-- what a new state of an author changes.
local restored = {}
for i, entry in ipairs(recorded) do
  if entry[2][1] == 'restored' then
    restored[entry[2][2]] = i
  end
end
for i, entry in ipairs(complete == '1' and recorded or {}) do
  local change, subject, author = entry[2][1], entry[2][2], entry[2][4]
  if change == 'removed' or change == 'hidden' and i > (restored[subject] or 0) then
    if concerns(author, subject) then
      removed[#removed + 1] = entry[1]
      removed[#removed + 1] = subject
      removed[#removed + 1] = author
    end
  elseif change == 'state' and concerns(author, '') then
    complete = '0'
  end
end

visit(#recorded)

local reader = kind == 'l' and redis.call('HGET', KEYS[7], 'owner') or owner
local is_hidden = new_hider(kind, reader, is_source, KEYS[8])
local hidden = hidden_among(entries, is_hidden)
-- The original of a repost that was undone meanwhile still exists.
local gone = {}
for _, entry in ipairs(recorded) do
  gone[entry[2][2]] = entry[2][1] == 'removed'
end
for i, entry in ipairs(entries) do
  if gone[leading(entry)] and leading(entry) ~= shown(entry) then
    hidden[#hidden + 1] = i
  end
end

return counted({
  epoch,
  last_change(KEYS[3]),
  head(KEYS[1]),
  redis.call('LINDEX', KEYS[1], -1) or '',
  complete,
  entries,
  removed,
  ARGV[8] ~= '' and redis.call('HGET', KEYS[7], ARGV[8]) or '',
  hidden,
  same_posts(KEYS[1], 0, entries, is_hidden),
  kind ~= 'p' and redis.call('HGET', KEYS[7], 'filter_epoch') or '',
})
