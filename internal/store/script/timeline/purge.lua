-- purge removes the posts, replies and reposts of an author from the list of a timeline that does not follow the author.
-- If the edge exists again, it does nothing. It raises the epoch even if the list held no such entry:
-- subscribers may have read such posts below the list, and a build may have read some.
--
-- A trimmed list stays one, with fewer entries: it holds every post above its end as before. If too few entries remain,
-- it counts as being built, and the next read refills it.
--
-- KEYS   1 list   2 sources   3 hash of the epoch   4 online   5 online nodes
--        6 of a home: users whose reposts it does not show, else a missing key
-- ARGV   1 name of the timeline   2 author   3 PUBLISH or SPUBLISH   4 channel prefix
--        5 field of the marker   6 fewest entries of a trimmed list   7… entries of the author
-- Reply  entries removed
--@include list
--@include publish
--@include ids
--@include rows
--@include marker

if redis.call('ZSCORE', KEYS[2], ARGV[2]) then
  return 0
end
redis.call('SREM', KEYS[6], ARGV[2])
local unwanted = {}
for i = 7, #ARGV do
  unwanted[ARGV[i]] = true
end
local entries = redis.call('LRANGE', KEYS[1], 0, -1)
local last = entries[#entries]
local kept = {}
for _, entry in ipairs(entries) do
  if not unwanted[entry] then
    kept[#kept + 1] = entry
  end
end
local removed = #entries - #kept
if removed > 0 and not is_mark(last) and #kept < tonumber(ARGV[6]) then
  kept[#kept + 1] = 'b'
end
if removed > 0 then
  keep_marker(KEYS[3], ARGV[5], entries, unwanted)
  replace(KEYS[1], kept)
end
if redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('HINCRBY', KEYS[3], 'epoch', 1)
end
publish(KEYS[5], ARGV[3], ARGV[4], '!', watched(KEYS[4], { ARGV[1] }))
return removed
