-- The list of a timeline ends in '0' if it is complete, that is, no older post exists. It ends in 'b'
-- while it is being built. It ends in a post if older entries were trimmed.

-- is_mark reports whether an entry is such a mark and no element.
local function is_mark(entry)
  return entry == '0' or entry == 'b'
end

-- Entries of several authors whose order of arrival differs from that of their creation by more milliseconds arrived late.
local LATE = 100

-- note_displaced stores the greatest id that was trimmed below a late entry, which is older, in the field 'displaced' of a hash. A page that ended at the
-- late one continues there: by ids alone, it would skip the newer ones. The entries are those that are trimmed, and the one above.
local function note_displaced(hash, entries)
  local greatest
  for i = 2, #entries do
    local above, entry = entries[i - 1], entries[i]
    -- Most entries are in order, which is faster to see for ids of the same length.
    if (above < entry or #above ~= #entry) and not is_mark(entry) and below(above, entry) and (not greatest or below(greatest, entry))
      and instant_of(entry) - instant_of(above) > LATE then
      greatest = leading(entry)
    end
  end
  if greatest then
    local stored = redis.call('HGET', hash, 'displaced')
    if not stored or below(stored, greatest) then
      redis.call('HSET', hash, 'displaced', greatest)
    end
  end
end

-- trim removes the entries below the cap. It keeps the mark of a list that is being built, because the
-- build has not added its posts yet. hash is that of the epoch of a home or list, if the epoch does not rise.
local function trim(list, cap, hash)
  local entries = redis.call('LRANGE', list, cap - 1, -1)
  if hash then
    note_displaced(hash, entries)
  end
  redis.call('LTRIM', list, 0, cap - 1)
  if entries[#entries] == 'b' then
    redis.call('RPUSH', list, 'b')
  end
end

-- trimmed_early returns by how many entries a list is trimmed before it has reached the slack, by the digits at the end of a key: up to half of the slack,
-- rounded down to tens. Thousands of homes may have the same length, and receive the same posts. If all were trimmed by the same call, it would take 20
-- times as long.
local function trimmed_early(key, slack)
  return (tonumber(sub(key, -3)) or 0) % (10 * math.floor(slack / 20) + 1)
end

-- push adds a post on top of a list if the list exists, and reports whether it does. hash is that of the epoch of a home or list. If its id is given
-- apart, hash is the key without it: few of thousands of pushes need the key.
local function push(list, post, cap, slack, hash, id)
  local length = redis.call('LPUSHX', list, post)
  if length > cap + slack / 2 and length > cap + slack - trimmed_early(id or hash or list, slack) then
    trim(list, cap, id and hash .. id or hash)
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
