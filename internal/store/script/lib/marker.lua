-- The marker of a timeline is the element up to which its owner has read it, in a field of the hash of the owner. The entries
-- above it are unread. If the list does not hold the marker, because it was trimmed or built again, the marker is above the
-- entries at the end of the list that are all older.

-- How many entries of a list are read at once, from its end.
local SOME = 100

-- entries_above returns how many entries of a list are above an element, and whether the list holds it.
local function entries_above(list, element)
  local at = redis.call('LPOS', list, element)
  if at then
    return at, true
  end
  local above, mark = redis.call('LLEN', list), leading(element)
  while above > 0 do
    local entries = redis.call('LRANGE', list, math.max(0, above - SOME), above - 1)
    visit(#entries)
    for i = #entries, 1, -1 do
      if not is_mark(entries[i]) and not below(entries[i], mark) then
        return above, false
      end
      above = above - 1
    end
  end
  return 0, false
end

-- unread_entries returns the marker of a list or '', and the newest unread entries, at most count.
local function unread_entries(list, hash, field, count)
  local marker = redis.call('HGET', hash, field)
  local above = marker and entries_above(list, marker) or count
  local unread = {}
  if above > 0 and count > 0 then
    unread = redis.call('LRANGE', list, 0, math.min(above, count) - 1)
  end
  if is_mark(unread[#unread]) then
    unread[#unread] = nil
  end
  return marker or '', unread
end

-- keep_marker moves the marker of a list to the nearest older entry that is kept, if its own entry is about to be removed. Without
-- an older one, the marker stays, and its id determines its place.
local function keep_marker(hash, field, entries, removed)
  local marker = redis.call('HGET', hash, field)
  if not marker or not removed[marker] then
    return
  end
  local passed = false
  for _, entry in ipairs(entries) do
    if passed and not removed[entry] and not is_mark(entry) then
      redis.call('HSET', hash, field, entry)
      return
    end
    passed = passed or entry == marker
  end
end
