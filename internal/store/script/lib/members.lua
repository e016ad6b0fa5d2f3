-- Redis stores a small set packed, and searches it from the beginning for each member: 10 microseconds for one of 1000. For many
-- members it is cheaper to read the set once.

-- The number of members to look up in a packed set before it is read.
local SEARCHES = 16

-- The number of members that Redis compares with a name in the time for which a row is charged. namesPerRow in directory.go is the same.
local MEMBERS_PER_ROW = 12

-- is_packed reports whether a sorted set is packed. A server that does not say so stores none in this way.
local function is_packed(set)
  local encoding = redis.pcall('OBJECT', 'ENCODING', set)
  return encoding == 'listpack' or encoding == 'ziplist'
end

-- read_scores returns the scores of all members of a sorted set.
local function read_scores(set)
  local all, scores = redis.call('ZRANGE', set, 0, -1, 'WITHSCORES'), {}
  for i = 1, #all, 2 do
    scores[all[i]] = all[i + 1]
  end
  visit(#all / 4)
  return scores
end

-- scores_of returns the score of each name in a sorted set, in the order of the names: false for a name that the set lacks.
local function scores_of(set, names)
  if #names <= SEARCHES or not is_packed(set) then
    return redis.call('ZMSCORE', set, unpack(names))
  end
  local scores, found = read_scores(set), {}
  for i, name in ipairs(names) do
    found[i] = scores[name] or false
  end
  return found
end

-- new_members returns a function that reports whether a sorted set, which does not change meanwhile, has a member.
local function new_members(set)
  local known, searched, whole = {}, 0, false
  return function(name)
    if known[name] == nil and not whole then
      searched = searched + 1
      if searched == SEARCHES and is_packed(set) then
        known, whole = read_scores(set), true
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
