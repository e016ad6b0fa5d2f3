-- merge puts posts into a timeline's list that belong there and may still be on their
-- way by fan-out: without duplicates, each below every newer entry, but never below an
-- older post of its own author. Posts of authors whom the owner no longer follows are
-- dropped. A list that changed gets a new generation. The list is marked for each partition
-- that posts were read from, so that fan-out does not push what was read: see mergemarks.
--
-- 'fill' adds what one author made: only above the last entry where older ones were
-- trimmed, since other authors' posts are missing there too; and only while the edge has
-- the score it had when this was asked for. 'whole' brings the newest posts of all,
-- and ends the building of a list, unless what was gathered may lack something: because
-- something has raised the generation since it began, or because an author is no longer
-- followed, whose posts took the room of others. A list that is being built gets nothing by
-- 'fill', but for another generation.
--
-- Posts that a partition made after its clock was read are left out: fan-out brings them.
--
-- KEYS   1 list   2 following   3 hash of the generation   4 online   5 online nodes
--        6… for each partition that was read: progress of its outbox, merge marks, older ones
-- ARGV   1 name of the timeline   2 'fill' or 'whole'   3 cap
--        4 with fill: author   5 with fill: score of the edge, '' for any; with whole: the
--        generation that the building began with
--        6 '1' when nothing older exists, with fill of the author   7 PUBLISH or SPUBLISH
--        8 channel prefix   9 author whose posts belong there without an edge: of a home
--        its owner, of a list ''
--        10… for each partition that was read: its number, its clock, its watermark or '', the
--        last entry of its outbox that was not carried out, or ''
--        then post, author, post, author … newest first, and every post of those authors
--        between the first and the last of them
-- Reply  posts added; -1 where there is nothing to merge into; -2 with whole, where the
--        posts have to be gathered again
--@include ids
--@include list
--@include merge
--@include publish
--@include progress
--@include mergemarks

local whole, cap = ARGV[2] == 'whole', tonumber(ARGV[3])
local entries = redis.call('LRANGE', KEYS[1], 0, -1)
if #entries == 0 then
  return -1
end
local mark = entries[#entries]
if whole then
  if (redis.call('HGET', KEYS[3], 'epoch') or '0') ~= ARGV[5] then
    return -2
  end
else
  local score = redis.call('ZSCORE', KEYS[2], ARGV[4])
  if not score or (ARGV[5] ~= '' and tonumber(score) ~= tonumber(ARGV[5])) then
    return -1
  end
  if mark == 'b' then
    redis.call('HINCRBY', KEYS[3], 'epoch', 1)
    return 0
  end
end

if mark == '0' or mark == 'b' then
  entries[#entries] = nil
else
  mark = ''
end
local place = {}
for i, post in ipairs(entries) do
  place[post] = i
end

local followed = { [ARGV[9]] = true }
local function wanted(author)
  if followed[author] == nil then
    followed[author] = redis.call('ZSCORE', KEYS[2], author) and true or false
  end
  return followed[author]
end

local origins = (#KEYS - 5) / 3
local first = 10 + 4 * origins -- of the posts
local clock = {}
for n = 1, origins do
  local at = 6 + 4 * n
  clock[string.format('%03d', tonumber(ARGV[at]))] = tonumber(ARGV[at + 1])
end

-- ceiling[i]: the entry above which post i must stand, the nearest older one of its author.
local ceiling, nearest = {}, {}
for i = #ARGV - 1, first, -2 do
  local post, author = ARGV[i], ARGV[i + 1]
  ceiling[i] = nearest[author]
  if place[post] then
    nearest[author] = place[post]
  end
end

local floor = not whole and mark == '' and entries[#entries]
local posts, ceilings, added = {}, {}, 0
for i = first, #ARGV - 1, 2 do
  local post, author = ARGV[i], ARGV[i + 1]
  if whole and not wanted(author) then
    return -2
  end
  if not place[post] and wanted(author) and not (floor and below(post, floor))
    and instant_of(post) <= clock[origin_of(post)] then
    added = added + 1
    posts[added] = post
    ceilings[added] = ceiling[i]
  end
end

for n = 1, origins do
  local key, at = 3 + 3 * n, 6 + 4 * n
  local progress, marks, watermark, last = KEYS[key], KEYS[key + 1], ARGV[at + 2], ARGV[at + 3]
  if watermark ~= '' then
    advance(progress, marks, KEYS[key + 2], watermark)
  end
  local low = redis.call('HGET', progress, 'watermark')
  if last ~= '' and not (low and up_to(last, low)) then
    set_merge_mark(marks, whole and ARGV[1] or ARGV[1] .. ':' .. ARGV[4], ARGV[at + 1], last)
  end
end

local ends = mark
if whole and mark ~= '0' then
  ends = ARGV[6] == '1' and '0' or ''
elseif not whole and mark == '0' and ARGV[6] ~= '1' then
  ends = '' -- it held everything until this author came with more than is brought
end
if added == 0 and ends == mark then
  return 0
end
rewrite(KEYS[1], merge_posts(entries, posts, ceilings), ends, cap)
redis.call('HINCRBY', KEYS[3], 'epoch', 1)
publish(KEYS[5], ARGV[7], ARGV[8], '!', watched(KEYS[4], { ARGV[1] }))
return added
