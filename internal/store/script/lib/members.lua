-- Redis stores a small set or hash packed, and searches it from the beginning for each member: 10 microseconds for one of 1000. For many
-- members it is cheaper to read it once.

-- The number of members to look up in a packed set or hash before it is read.
local SEARCHES = 16

-- The number of members that Redis compares with a name in the time for which a row is charged. namesPerRow in directory.go is the same.
local MEMBERS_PER_ROW = 12

-- The number of members that Redis compares with a number in that time.
local NUMBERS_PER_ROW = 50

-- is_packed reports whether a sorted set or a hash is packed. A server that does not say so stores none in this way.
local function is_packed(key)
  local encoding = redis.pcall('OBJECT', 'ENCODING', key)
  return encoding == 'listpack' or encoding == 'ziplist'
end

-- by_name returns a table of values by their names, of a list with a value behind each name.
local function by_name(all)
  local values = {}
  for i = 1, #all, 2 do
    values[all[i]] = all[i + 1]
  end
  visit(#all / 4)
  return values
end

-- set_of returns a table with true for each of some names. To read only the names takes half as long as with what they stand for.
local function set_of(names)
  local set = {}
  for _, name in ipairs(names) do
    set[name] = true
  end
  visit(#names / 2)
  return set
end

-- each_of returns the value of each name, in the order of the names: false for one without a value.
local function each_of(names, values)
  local found = {}
  for i, name in ipairs(names) do
    found[i] = values[name] or false
  end
  return found
end

-- scores_of returns the score of each name in a sorted set, in the order of the names: false for a name that the set lacks.
local function scores_of(set, names)
  if is_packed(set) then
    if #names > SEARCHES then
      return each_of(names, by_name(redis.call('ZRANGE', set, 0, -1, 'WITHSCORES')))
    end
    visit(#names * redis.call('ZCARD', set) / NUMBERS_PER_ROW)
  end
  return redis.call('ZMSCORE', set, unpack(names))
end

-- values_of returns the value of each name in a hash, likewise.
local function values_of(hash, names)
  if is_packed(hash) then
    if #names > SEARCHES then
      return each_of(names, by_name(redis.call('HGETALL', hash)))
    end
    visit(#names * redis.call('HLEN', hash) / NUMBERS_PER_ROW)
  end
  return redis.call('HMGET', hash, unpack(names))
end

-- are_members returns for each name whether a sorted set has that member.
local function are_members(set, names)
  if #names > SEARCHES and is_packed(set) then
    return each_of(names, set_of(redis.call('ZRANGE', set, 0, -1)))
  end
  return scores_of(set, names)
end

-- are_fields returns for each name whether a hash has that field.
local function are_fields(hash, names)
  if #names > SEARCHES and is_packed(hash) then
    return each_of(names, set_of(redis.call('HKEYS', hash)))
  end
  return values_of(hash, names)
end

-- new_members returns a function that reports whether a sorted set, which does not change meanwhile, has a member.
local function new_members(set)
  local known, searched, whole = {}, 0, false
  return function(name)
    if known[name] == nil and not whole then
      searched = searched + 1
      if searched == SEARCHES and is_packed(set) then
        known, whole = set_of(redis.call('ZRANGE', set, 0, -1)), true
      else
        visit(1)
        known[name] = redis.call('ZSCORE', set, name)
      end
    end
    return known[name]
  end
end

-- rows_of_search returns the rows of a search for a name in a sorted set that is ordered by names: Redis compares up to all members of
-- a packed one.
local function rows_of_search(set)
  return is_packed(set) and redis.call('ZCARD', set) / MEMBERS_PER_ROW or 0
end
