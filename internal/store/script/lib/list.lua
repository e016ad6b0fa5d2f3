-- The list of a timeline ends in '0' if it is complete, that is, no older post exists. It ends in 'b'
-- while it is being built. It ends in a post if older entries were trimmed.

-- is_mark reports whether an entry is such a mark and no element.
local function is_mark(entry)
  return entry == '0' or entry == 'b'
end

-- trim removes the entries below the cap. It keeps the mark of a list that is being built, because the
-- build has not added its posts yet.
local function trim(list, cap)
  local last = redis.call('LINDEX', list, -1)
  redis.call('LTRIM', list, 0, cap - 1)
  if last == 'b' then
    redis.call('RPUSH', list, 'b')
  end
end

-- push adds a post on top of a list if the list exists, and reports whether it does.
local function push(list, post, cap, slack)
  local length = redis.call('LPUSHX', list, post)
  if length > cap + slack then
    trim(list, cap)
  end
  return length > 0
end

-- newest returns the newest entry of a list whose first one is known, or '0' if there is none.
local function newest(first)
  if not first or first == 'b' then
    return '0'
  end
  return first
end

-- head returns the newest entry of a list, or '0' if the list is empty or missing.
local function head(list)
  return newest(redis.call('LINDEX', list, 0))
end

-- replace replaces the entries of a list. There must be at least one entry.
local function replace(list, entries)
  redis.call('DEL', list)
  for from = 1, #entries, 500 do
    redis.call('RPUSH', list, unpack(entries, from, math.min(from + 499, #entries)))
  end
end
