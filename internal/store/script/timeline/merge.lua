-- merge inserts posts into the list of a timeline in order. Fan-out may not have delivered them yet.
-- Each post goes below every newer entry, but never below an older post of its own author. merge
-- skips duplicates and posts of authors whom the timeline no longer follows. It raises the epoch of a
-- list that changed, and after a new edge to an author with posts or answers also if the list did not change. It sets a
-- merge mark for each partition that posts were read from, so that fan-out does not push them again: see
-- lib/mergemarks.lua.
--
-- Mode 'fill' adds posts of one author. If the list was trimmed, it adds them only above the last
-- entry, because posts of other authors are missing below, or above an older post of the author, which
-- arrived late. If the list is being built, it adds them only above an older post of the author, which the
-- build may not read, and raises the epoch, so that the build starts again. It acts only while the edge has
-- the given score.
--
-- Mode 'whole' adds the newest posts of all authors and ends the build of a list. It refuses if the
-- posts may be incomplete: if the epoch rose since the build began, or if the posts include some of an
-- author who is no longer followed and who displaced posts of others.
--
-- merge skips posts that a partition created after its clock was read: fan-out pushes them.
--
-- KEYS   1 list   2 sources   3 hash of the epoch   4 online   5 online nodes
--        6… for each partition read: progress of its outbox, merge marks, older merge marks
-- ARGV   1 name of the timeline   2 'fill' or 'whole'   3 cap
--        4 for fill: author   5 for fill: score of the edge, '' for any; for whole: the epoch when
--        the build began   6 '1' if no older post exists, for fill of the author
--        7 PUBLISH or SPUBLISH   8 channel prefix   9 author whose posts need no edge: the owner of
--        a home, '' for a list   10 number of partitions
--        11… for each partition read: its number, its clock, its watermark or '', the last entry of
--        its outbox above the watermark or ''
--        then post, author, post, author … newest first, with every post of those authors between
--        the first and the last of them
-- Reply  posts added; -1 if there is no list or no edge; -2 for whole if the posts may be incomplete, and if the
--        place of a post is unknown: then the list is built again
--@include ids
--@include list
--@include search
--@include merge
--@include publish
--@include progress
--@include mergemarks
--@include rows
--@include members

local whole, cap = ARGV[2] == 'whole', tonumber(ARGV[3])
local entries = redis.call('LRANGE', KEYS[1], 0, -1)
if #entries == 0 then
  return -1
end
local last = entries[#entries]
if whole then
  if (redis.call('HGET', KEYS[3], 'epoch') or '0') ~= ARGV[5] then
    return -2
  end
else
  local score = redis.call('ZSCORE', KEYS[2], ARGV[4])
  if not score or (ARGV[5] ~= '' and tonumber(score) ~= tonumber(ARGV[5])) then
    return -1
  end
end

local building = not whole and last == 'b'
if is_mark(last) then
  entries[#entries] = nil
else
  last = ''
end

local is_source = new_members(KEYS[2])
local function wanted(author)
  return author == ARGV[9] or is_source(author)
end

local origins, partitions = (#KEYS - 5) / 3, tonumber(ARGV[10])
local clock, first_clock = {}, math.huge
for n = 1, origins do
  local at = 7 + 4 * n
  local instant = tonumber(ARGV[at + 1])
  clock[tonumber(ARGV[at])] = instant
  first_clock = math.min(first_clock, instant)
end

local given, authors, first = {}, {}, 11 + 4 * origins -- posts
for i = first, #ARGV, 2 do
  local k = (i - first) / 2 + 1
  given[k], authors[k] = ARGV[i], ARGV[i + 1]
end
local index = indexes_of(given, entries)
local ids, given_ids = leading_ids(entries), leading_ids(given)

-- is_later reports whether the partition of a post created it after its clock was read.
local latest, earliest = {}, nil -- by the bucket: the greatest id until then; at most each of them
local function is_later(id)
  earliest = earliest or id_of(first_clock, 0)
  if below(id, earliest) then
    return false
  end
  local bucket = bucket_of(id)
  if not latest[bucket] then
    latest[bucket] = id_of(clock[bucket % partitions], bucket)
  end
  return below(latest[bucket], id)
end

-- ceiling[i]: the index of the nearest older entry of the same author. Post i must go above it.
local ceiling, nearest = {}, {}
for i = #given, 1, -1 do
  local author = authors[i]
  ceiling[i] = nearest[author]
  nearest[author] = index[given[i]] or nearest[author]
end

-- An older post of the author than those given may stand on top, because it arrived late. Any older entry
-- of the author's bucket that stands below the author's newer posts may be one.
local oldest, newer, unknown = given_ids[#given], {}, false
local indexes, older = #entries > 0 and by_bucket(ids, given_ids), {}
-- older_of returns the ascending indexes of the entries of a bucket that are older than all posts given. For each of
-- them it returns the entry of the bucket with the greatest id below it, too.
local function older_of(bucket)
  if not older[bucket] then
    local of_bucket, found = indexes[bucket], { at = {}, newest = {} }
    local newest = below_each(ids, of_bucket)
    for k, at in ipairs(of_bucket) do
      if below(ids[at], oldest) then
        table.insert(found.at, at)
        found.newest[#found.at] = newest[k]
      end
    end
    older[bucket] = found
  end
  return older[bucket].at, older[bucket].newest
end
for i, id in ipairs(#entries > 0 and given_ids or {}) do -- without entries there is nothing to place posts above
  local author = authors[i]
  newer[author] = index[given[i]] or newer[author]
  if not ceiling[i] and not index[given[i]] then
    local at, newest = older_of(bucket_key(id))
    local above = newer[author] or 0
    local k = #at > 0 and first_where(#at, function(k) return at[k] > above end)
    if k then
      ceiling[i] = at[k]
      unknown = unknown or newest[k] ~= nil and below(id, newest[k])
    end
  end
end
if unknown then
  build_again(KEYS[1])
  redis.call('HINCRBY', KEYS[3], 'epoch', 1)
  publish(KEYS[5], ARGV[7], ARGV[8], '!', watched(KEYS[4], { ARGV[1] }))
  return -2
end

local floor = not whole and last == '' and ids[#ids]
local posts, ceilings, added = {}, {}, 0
for i, post in ipairs(given) do
  local id, follows = given_ids[i], wanted(authors[i])
  if whole and not follows then
    return -2
  end
  local fits = ceiling[i] or not building and not (floor and below(id, floor))
  if fits and follows and not index[post] and not is_later(id) then
    added = added + 1
    posts[added] = post
    ceilings[added] = ceiling[i]
  end
end

for n = 1, origins do
  local key, at = 3 + 3 * n, 7 + 4 * n
  local progress, marks, watermark, last_entry = KEYS[key], KEYS[key + 1], ARGV[at + 2], ARGV[at + 3]
  if watermark ~= '' then
    advance(progress, marks, KEYS[key + 2], watermark, 0)
  end
  local stored = redis.call('HGET', progress, 'watermark')
  if last_entry ~= '' and not (stored and up_to(last_entry, stored)) then
    set_merge_mark(marks, whole and ARGV[1] or ARGV[1] .. ':' .. ARGV[4], ARGV[at + 1], last_entry)
  end
end

local ends = last
if whole and last ~= '0' then
  ends = ARGV[6] == '1' and '0' or ''
elseif not whole and last == '0' and ARGV[6] ~= '1' then
  ends = '' -- older posts of this author exist and are not merged
end
local stored = added > 0 or ends ~= last
-- answers_author reports whether the list holds a reply to the author, also to a deleted post.
local function answers_author()
  for _, entry in ipairs(entries) do
    if #entry > ID_DIGITS and select(2, answered_by(entry)) == ARGV[4] then
      return true
    end
  end
  return false
end
-- After a new edge, pages below the list show the author's posts too, and pages show replies to the author.
local followed_now = not whole and ARGV[5] ~= '' and (#given > 0 or answers_author())
if not stored and not followed_now and not building then
  return 0
end
if stored then
  add_posts(KEYS[1], entries, ids, last, posts, ceilings, ends, cap)
end
redis.call('HINCRBY', KEYS[3], 'epoch', 1)
publish(KEYS[5], ARGV[7], ARGV[8], '!', watched(KEYS[4], { ARGV[1] }))
return added
