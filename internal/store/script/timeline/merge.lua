-- merge puts posts into a timeline's list that belong there and may still be on their
-- way by fan-out: without duplicates, each below every newer entry, but never below an
-- older post of its own author. Posts of authors whom the owner no longer follows are
-- dropped. A list that changed gets a new generation and is marked, so that fan-out
-- looks into it for a while before it pushes.
--
-- 'fill' adds what one author made: only above the last entry where older ones were
-- trimmed, since other authors' posts are missing there too; and only while the edge has
-- the score it had when this was asked for. 'whole' brings the newest posts of all,
-- and ends the building of a list, unless what was gathered may lack something: because
-- something has raised the generation since it began, or because an author is no longer
-- followed, whose posts took the room of others. A list that is being built gets nothing by
-- 'fill', but for another generation.
--
-- KEYS   1 list   2 following   3 hash of the generation   4 merged   5 merged expiry
--        6 online   7 online nodes
-- ARGV   1 name of the timeline   2 'fill' or 'whole'   3 cap   4 seconds the mark lasts
--        5 with fill: author   6 with fill: score of the edge, '' for any; with whole: the
--        generation that the building began with
--        7 '1' when nothing older exists, with fill of the author   8 PUBLISH or SPUBLISH
--        9 channel prefix   10 author whose posts belong there without an edge: of a home
--        its owner, of a list ''   11… post, author, post, author … newest first, and every
--        post of those authors between the first and the last of them
-- Reply  posts added; -1 where there is nothing to merge into; -2 with whole, where the
--        posts have to be gathered again
--@include clock
--@include ids
--@include list
--@include weave
--@include publish

local name, whole, cap = ARGV[1], ARGV[2] == 'whole', tonumber(ARGV[3])
local entries = redis.call('LRANGE', KEYS[1], 0, -1)
if #entries == 0 then
  return -1
end
local mark = entries[#entries]
if whole then
  if (redis.call('HGET', KEYS[3], 'home_gen') or '0') ~= ARGV[6] then
    return -2
  end
else
  local score = redis.call('ZSCORE', KEYS[2], ARGV[5])
  if not score or (ARGV[6] ~= '' and tonumber(score) ~= tonumber(ARGV[6])) then
    return -1
  end
  if mark == 'b' then
    redis.call('HINCRBY', KEYS[3], 'home_gen', 1)
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

local followed = { [ARGV[10]] = true }
local function wanted(author)
  if followed[author] == nil then
    followed[author] = redis.call('ZSCORE', KEYS[2], author) and true or false
  end
  return followed[author]
end

-- ceiling[i]: the entry above which post i must stand, the nearest older one of its author.
local ceiling, nearest = {}, {}
for i = #ARGV - 1, 11, -2 do
  local post, author = ARGV[i], ARGV[i + 1]
  ceiling[i] = nearest[author]
  if place[post] then
    nearest[author] = place[post]
  end
end

local floor = not whole and mark == '' and entries[#entries]
local posts, ceilings, added = {}, {}, 0
for i = 11, #ARGV - 1, 2 do
  local post, author = ARGV[i], ARGV[i + 1]
  if whole and not wanted(author) then
    return -2
  end
  if not place[post] and wanted(author) and not (floor and below(post, floor)) then
    added = added + 1
    posts[added] = post
    ceilings[added] = ceiling[i]
  end
end

local ends = mark
if whole and mark ~= '0' then
  ends = ARGV[7] == '1' and '0' or ''
elseif not whole and mark == '0' and ARGV[7] ~= '1' then
  ends = '' -- it held everything until this author came with more than is brought
end
if added == 0 and ends == mark then
  return 0
end
rewrite(KEYS[1], weave(entries, posts, ceilings), ends, cap)
redis.call('HINCRBY', KEYS[3], 'home_gen', 1)

local now = unix_ms()
redis.call('SADD', KEYS[4], name)
redis.call('ZADD', KEYS[5], string.format('%.0f', now + 1000 * tonumber(ARGV[4])), name)
local lapsed = redis.call('ZRANGEBYSCORE', KEYS[5], '-inf', string.format('%.0f', now), 'LIMIT', 0, 100)
if #lapsed > 0 then
  redis.call('ZREM', KEYS[5], unpack(lapsed))
  redis.call('SREM', KEYS[4], unpack(lapsed))
end
publish(KEYS[7], ARGV[8], ARGV[9], '!', watched(KEYS[6], { name }))
return added
