-- read_list reads a range of the list of a timeline, and the position of the timeline, atomically.
--
-- KEYS   1 list   2 hash of the epoch, or a missing key   3 changes
--        4 large authors   5 online nodes   6 hash of the owner   7 sources
--        8 of a home: users whose reposts it does not show, else a missing key   9 likes of the reader, if they are read
--        10 reposts of the reader, likewise
-- ARGV   1 'top', 'after', 'before' or 'all'   2 for after and before: entry, and the entries below
--        it, separated by spaces   3 count   4 number of further entries to return below the last one
--        5 position in the changes, '' for none   6 maximum number of changes
--        7 field of the marker, '' not to read it   8 number of unread entries to return
--        9 first letter of the name of the timeline   10 '1' to read the likes and reposts   11… see lib/pullonread.lua
-- Reply  { epoch, last change, newest entry or '0', last entry or '', number of entries in the range
--        or -1 if the list holds none of the entries, entries of the range and below it,
--        changes since the position as of lib/changes.lua, marker or '', unread entries,
--        indexes of the unread entries that the timeline does not show, indexes of the entries that it does not show, owner of a list
--        or '', indexes of the entries whose posts the reader likes, same posts as of lib/repeats.lua for the unread entries, and for
--        the entries, indexes of the entries whose posts the reader has reposted,
--        for all: greatest id that was trimmed below a late entry, or '', rows visited }
--
-- If the list does not hold the entry, the range begins or ends at the first of those below it that the
-- list still holds.
--@include rows
--@include ids
--@include list
--@include members
--@include visibility
--@include repeats
--@include idle
--@include changes
--@include marker

if ARGV[11] ~= '' and redis.call('EXISTS', KEYS[4]) == 1 then
  --@include search
  --@include merge
  --@include publish
  --@include progress
  --@include mergemarks
  --@include pull
  --@include pullonread
  pull_on_read(KEYS[4], KEYS[5], ARGV, 11)
end
local epoch = record_read(KEYS[2])

-- place returns the index of the first of some entries that the list holds, and whether it is the first.
local function place(candidates)
  local first = true
  for entry in string.gmatch(candidates, '%S+') do
    local at = redis.call('LPOS', KEYS[1], entry)
    if at then
      return at, first
    end
    first = false
  end
end

local mode, count, below_range = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local from, to = 0, count - 1
if mode == 'all' then
  to = redis.call('LLEN', KEYS[1]) - 1
elseif mode ~= 'top' then
  local at, exact = place(ARGV[2])
  if not at then
    from, to = -1, -2
  elseif mode == 'after' then
    from = exact and at + 1 or at
    to = from + count - 1
  else
    from, to = math.max(0, at - count), at - 1
  end
end
local entries, size = {}, -1
if from >= 0 then
  size = to - from + 1
  if size > 0 then
    entries = redis.call('LRANGE', KEYS[1], from, to + below_range)
    size = math.min(size, #entries)
  end
end
local kind, reader = ARGV[9], ARGV[11]
if kind == 'l' then
  reader = redis.call('HGET', KEYS[6], 'owner') or ''
end
local newest_change, changes = changes_since(KEYS[3], ARGV[5], tonumber(ARGV[6]))
local marker, unread = '', {}
if ARGV[7] ~= '' then
  marker, unread = unread_entries(KEYS[1], KEYS[6], ARGV[7], tonumber(ARGV[8]))
end
local is_source = new_members(KEYS[7])
local is_hidden = new_hider(kind, reader, is_source, KEYS[8])
local liked, reposted = {}, {}
if ARGV[10] == '1' and #entries > 0 then
  local posts = {}
  for i, entry in ipairs(entries) do
    posts[i] = shown(entry)
  end
  for i, likes in ipairs(are_members(KEYS[9], posts)) do
    if likes then
      liked[#liked + 1] = i
    end
  end
  for i, has_reposted in ipairs(are_fields(KEYS[10], posts)) do
    if has_reposted then
      reposted[#reposted + 1] = i
    end
  end
end
return counted({
  epoch,
  newest_change,
  newest(from == 0 and entries[1] or redis.call('LINDEX', KEYS[1], 0)),
  redis.call('LINDEX', KEYS[1], -1) or '',
  size,
  entries,
  changes,
  marker,
  unread,
  hidden_among(unread, is_hidden),
  hidden_among(entries, is_hidden),
  kind == 'l' and reader or '',
  liked,
  same_posts(KEYS[1], 0, unread, is_hidden),
  same_posts(KEYS[1], math.max(from, 0), entries, is_hidden),
  reposted,
  mode == 'all' and redis.call('HGET', KEYS[2], 'displaced') or '',
})
