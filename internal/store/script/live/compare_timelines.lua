-- compare_timelines compares timelines of a partition with what their readers have received. It reads the changes of the partition once for all
-- of them. A timeline that it calls different may have no events all the same: events_since decides.
--
-- KEYS   1 changes   2 large authors; then for each timeline: list, hash of the epoch or a missing key, sources, owner as of events_since
-- ARGV   1 oldest of the last changes below   2 maximum number of changes   3 rows of lists after which it stops; then for each timeline: kind,
--        owner, epoch, entry of the position, entries below it as of events_since, last change, field of the marker or '', marker
-- Reply  { last change, verdict on each of the first timelines, rows visited }: at least one is compared. The verdicts are those of
--        package pubsub: 's' same, 'd' different, 'b' too many changes followed
--@include rows
--@include ids
--@include list
--@include members
--@include idle
--@include changes

local last = last_change(KEYS[1])
local has_large_authors = redis.call('EXISTS', KEYS[2]) == 1

-- The changes, newest first: the index of each, and of the newest one of each post and of each author.
local index, newest_of_post, newest_of_author = {}, {}, {}
local more = false -- whether older ones follow the oldest position
if ARGV[1] ~= last then
  local changes = redis.call('XREVRANGE', KEYS[1], '+', ARGV[1], 'COUNT', ARGV[2])
  more = #changes == tonumber(ARGV[2])
  for i, change in ipairs(changes) do
    local post, author = change[2][2], change[2][4]
    index[change[1]] = i
    newest_of_post[post] = newest_of_post[post] or i
    newest_of_author[author] = newest_of_author[author] or i
    visit(2)
  end
end

-- holds_removed reports whether a list holds an entry that shows a post of the changes before an index.
local function holds_removed(list, before)
  for _, entry in ipairs(redis.call('LRANGE', list, 0, -1)) do
    visit(1)
    if (newest_of_post[shown(entry)] or before) < before then
      return true
    end
  end
  return false
end

-- concerned reports whether one of the changes before an index may change a timeline, as events_since decides for each change.
local function concerned(kind, owner, list, sources, before)
  if kind == 'p' or kind ~= 'l' and (newest_of_author[owner] or before) < before then
    return true
  elseif kind == 'u' or kind == 'r' then
    return false
  elseif kind == 'h' or kind == 'l' then
    local is_source = new_members(sources)
    for author, newest in pairs(newest_of_author) do
      if newest < before and is_source(author) then
        return true
      end
    end
  end
  return holds_removed(list, before)
end

-- same_entries reports whether the newest entries of a list are those that a position names.
local function same_entries(list, entry, older)
  local top = redis.call('LRANGE', list, 0, 3)
  if newest(top[1]) ~= entry then
    return false
  end
  local below = 2
  for named in string.gmatch(older, '%S+') do
    if top[below] == nil or top[below] == 'b' then
      break -- trimmed
    elseif top[below] ~= named then
      return false
    end
    below = below + 1
  end
  return true
end

local function verdict(list, hash, sources, record, kind, owner, epoch, entry, older, change, field, marker)
  if kind ~= 'p' then
    local found = redis.call('HMGET', record, 'state', field)
    if found[1] ~= 'active' and found[1] ~= 'deleting' or (found[2] or '') ~= marker then
      return 'd'
    end
  end
  if kind == 'h' or kind == 'l' then
    local oldest = redis.call('LINDEX', list, -1)
    if kind == 'h' and has_large_authors or not oldest or oldest == 'b' or record_read(hash) ~= epoch then
      return 'd'
    end
  end
  if not same_entries(list, entry, older) then
    return 'd'
  elseif change == last then
    return 's'
  elseif not index[change] then
    return more and 'b' or 'd'
  end
  return concerned(kind, owner, list, sources, index[change]) and 'd' or 's'
end

local reply, most = { last }, rows + tonumber(ARGV[3])
local key, arg = 3, 4
while KEYS[key + 3] and (#reply == 1 or rows < most) do
  visit(5)
  reply[#reply + 1] = verdict(KEYS[key], KEYS[key + 1], KEYS[key + 2], KEYS[key + 3], unpack(ARGV, arg, arg + 7))
  key, arg = key + 4, arg + 8
end
return counted(reply)
