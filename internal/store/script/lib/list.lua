-- A timeline's list ends in '0' when it is complete (nothing older exists), in 'b'
-- while it is being built, and in neither when older entries were trimmed.

-- trim removes the entries below the cap. A list that is being built stays marked: what was
-- not merged into it, because the building will bring it, is still missing.
local function trim(list, cap)
  local last = redis.call('LINDEX', list, -1)
  redis.call('LTRIM', list, 0, cap - 1)
  if last == 'b' then
    redis.call('RPUSH', list, 'b')
  end
end

local function push(list, post, cap, slack)
  local length = redis.call('LPUSHX', list, post)
  if length > cap + slack then
    trim(list, cap)
  end
  return length > 0
end

-- head returns the newest entry of a list, or '0' of an empty or missing one.
local function head(list)
  local first = redis.call('LINDEX', list, 0)
  if not first or first == 'b' then
    return '0'
  end
  return first
end

-- replace writes a list anew. The caller has made sure that it is not empty.
local function replace(list, entries)
  redis.call('DEL', list)
  for from = 1, #entries, 500 do
    redis.call('RPUSH', list, unpack(entries, from, math.min(from + 499, #entries)))
  end
end
