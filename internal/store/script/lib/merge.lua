-- leading_ids returns the leading ids of elements. Scripts compare each of them many times.
local function leading_ids(elements)
  local ids = {}
  for i, element in ipairs(elements) do
    ids[i] = leading(element)
  end
  return ids
end

-- indexes_of returns the indexes of those of some posts that are among entries.
local function indexes_of(posts, entries)
  local found = {}
  if #entries == 0 then
    return found
  end
  local wanted = {}
  for _, post in ipairs(posts) do
    wanted[post] = true
  end
  for i, entry in ipairs(entries) do
    if wanted[entry] then
      found[entry] = i
    end
  end
  return found
end

-- places returns for each of some posts, newest first, the number of entries above it, of entries with some leading ids in order of arrival.
-- Each post goes below every newer entry. If it has a ceiling, the index of the nearest older entry of its author, it goes above that.
local function places(ids, posts, ceilings)
  local above, wanted, k = {}, leading_ids(posts), #posts
  for i = #ids, 1, -1 do
    local id = ids[i]
    while k > 0 and below(wanted[k], id) do -- entry i is the last one that is newer than post k
      above[k] = i
      k = k - 1
    end
    if k == 0 then
      break
    end
  end
  for i = 1, #posts do
    above[i] = math.min(above[i] or 0, ceilings[i] and ceilings[i] - 1 or #ids)
  end
  return above
end

-- merge_posts returns entries with posts at their places. Posts with the same place keep their order.
local function merge_posts(entries, posts, at)
  -- The posts below entry i are first[i], the one after it, and so on to last[i].
  local first, after, last = {}, {}, {}
  for i in ipairs(posts) do
    local place = at[i]
    if last[place] then
      after[last[place]] = i
    else
      first[place] = i
    end
    last[place] = i
  end
  local result, length = {}, 0
  for i = 0, #entries do
    if i > 0 then
      length = length + 1
      result[length] = entries[i]
    end
    local k = first[i]
    while k do
      length = length + 1
      result[length] = posts[k]
      k = after[k]
    end
  end
  return result
end

-- rewrite replaces a list by entries, at most cap, and the mark ends at its end, '' for none. A list that is
-- being built keeps its mark.
local function rewrite(list, entries, ends, cap)
  if #entries > cap then
    for i = #entries, cap + 1, -1 do
      entries[i] = nil
    end
    ends = ends == 'b' and ends or ''
  end
  if ends ~= '' or #entries == 0 then
    entries[#entries + 1] = ends ~= '' and ends or '0'
  end
  replace(list, entries)
end

-- The most posts that are inserted one by one: each takes Redis 20 microseconds. To replace 1000 entries takes 250.
local INSERTED_ONE_BY_ONE = 8

-- add_posts adds posts to a list with some entries, newest first, and keeps at most cap. last is the mark at its end, '' for none, and ends the one
-- that it has afterwards. ids are the leading ids of the entries, and ceilings as for places.
local function add_posts(list, entries, ids, last, posts, ceilings, ends, cap)
  if #entries == 0 then
    return rewrite(list, posts, ends, cap)
  end
  local at = places(ids, posts, ceilings)
  if ends ~= last or #posts > INSERTED_ONE_BY_ONE then
    return rewrite(list, merge_posts(entries, posts, at), ends, cap)
  end
  for i, post in ipairs(posts) do
    local next_entry = entries[at[i] + 1] or last
    if next_entry == '' then
      redis.call('RPUSH', list, post)
    else
      redis.call('LINSERT', list, 'BEFORE', next_entry, post)
    end
  end
  if #entries + #posts > cap then
    trim(list, cap)
  end
end

-- by_bucket returns the indexes of entries with some ids by the key of the bucket of their author, in ascending order, for the buckets of
-- the posts with other ids. An entry of a plain post does not contain its author.
local function by_bucket(ids, of_posts)
  local indexes = {}
  for _, id in ipairs(of_posts) do
    indexes[bucket_key(id)] = {}
  end
  for i, id in ipairs(ids) do
    local of_bucket = indexes[bucket_key(id)]
    if of_bucket then
      of_bucket[#of_bucket + 1] = i
    end
  end
  return indexes
end

-- below_each returns for each of some ascending indexes of ids the greatest one among those below it, nil for the last.
local function below_each(ids, indexes)
  local greatest, newest = {}, nil
  for k = #indexes, 1, -1 do
    greatest[k] = newest
    local id = ids[indexes[k]]
    newest = newest and below(id, newest) and newest or id
  end
  return greatest
end

-- down_to_each returns for each of some ascending indexes of ids the least one down to it.
local function down_to_each(ids, indexes)
  local least, oldest = {}, nil
  for k, i in ipairs(indexes) do
    oldest = oldest and below(oldest, ids[i]) and oldest or ids[i]
    least[k] = oldest
  end
  return least
end

-- ceilings_by_bucket returns for each post the index of the first older entry that may be of the same
-- author. It also reports whether the place of a post is unknown: an older entry of its bucket stands above a
-- newer one. Only one of them can be of the author, and the post goes above the first or below the second.
--
-- All posts and entries may be of one bucket, so it searches the entries of a bucket in the order of their ids.
-- ids are the leading ids of the entries.
local function ceilings_by_bucket(ids, posts)
  local wanted = leading_ids(posts)
  local indexes, least, greatest, ceilings, unknown = by_bucket(ids, wanted), {}, {}, {}, false
  for i, post in ipairs(wanted) do
    local bucket = bucket_key(post)
    local of_bucket = indexes[bucket]
    if not least[bucket] then
      least[bucket], greatest[bucket] = down_to_each(ids, of_bucket), below_each(ids, of_bucket)
    end
    local k = first_where(#of_bucket, function(k) return below(least[bucket][k], post) end)
    if k then
      ceilings[i] = of_bucket[k]
      local newer = greatest[bucket][k]
      unknown = unknown or newer ~= nil and below(post, newer)
    end
  end
  return ceilings, unknown
end

-- least returns the least of at least one leading id.
local function least(ids)
  local oldest = ids[1]
  for _, id in ipairs(ids) do
    oldest = below(id, oldest) and id or oldest
  end
  return oldest
end

-- holds_older reports whether a trimmed list holds an older post that may be of the same author.
local function holds_older(list, post)
  return ceilings_by_bucket(leading_ids(redis.call('LRANGE', list, 0, -1)), { post })[1] ~= nil
end

-- build_again empties a list and marks it as being built: the next read adds the posts, in order of their ids.
-- The caller raises the epoch.
local function build_again(list)
  replace(list, { 'b' })
end

-- To read so many entries and to search them for those of an author takes as long as a search of a list for one entry: 15 microseconds.
local AS_ONE_SEARCH = 50

-- insert_post inserts a post that a merge has read into a list by id, and reports whether the epoch has to
-- rise. It skips a post that the list holds. It skips a post older than the end of a trimmed list, because the
-- list trimmed it before, or had no room for it. It skips a post for a list that is being built, because the
-- build adds the post, or has no room for it. But if the list holds an older post of the author, the post
-- goes above that: it arrived late, or the clock of its partition is behind, and the build may not read it.
-- The end of the build raises the epoch. If the place of the post is unknown, the list is built again.
--
-- After a build, thousands of posts may wait for which the list has no room, so the merge marks remember the epoch and the least id of a list
-- that skipped one. Until the epoch rises, the list holds no entry of an author that is below that id and below a post that waits: fan-out
-- pushes the newer posts of an author after those that a merge has read, trims remove entries, and a late post goes above an older entry.
--
-- hash          key of the hash with the epoch of the list
-- marks, name   key of a merge mark of the timeline, and its name
--
-- It also returns how many further searches for one entry take as long as what it did.
local function insert_post(list, post, cap, hash, marks, name)
  local last = redis.call('LINDEX', list, -1)
  if not last then
    return false, 0
  end
  local building, no_room, field = last == 'b', not is_mark(last) and below(post, last), name .. ':least'
  local epoch = (building or no_room) and (redis.call('HGET', hash, 'epoch') or '0')
  if epoch then
    local known_epoch, known_least = string.match(redis.call('HGET', marks, field) or '', '^(%d+) (%d+)$')
    if known_epoch == epoch and below(post, known_least) then
      return false, 0
    end
  end
  if redis.call('LPOS', list, post) then
    return false, 0
  end
  local entries, ends = redis.call('LRANGE', list, 0, -1), ''
  if is_mark(last) then
    entries[#entries], ends = nil, last
  end
  local ids = leading_ids(entries)
  local searches = math.floor(#ids / AS_ONE_SEARCH)
  local ceilings, unknown = ceilings_by_bucket(ids, { post })
  if not ceilings[1] and epoch then
    if #ids > 0 then
      redis.call('HSET', marks, field, epoch .. ' ' .. least(ids))
    end
    return false, searches
  end
  if unknown then
    build_again(list)
    return true, searches
  end
  add_posts(list, entries, ids, ends, { post }, ceilings, ends, cap)
  return not building, searches
end
