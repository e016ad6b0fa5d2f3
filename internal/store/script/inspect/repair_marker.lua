-- repair_marker replaces the marker of a timeline by the entry at its place, so that the same entries are
-- unread as before. It deletes a marker that has no place.
--
-- KEYS   1 list   2 hash of the owner   3 online   4 online nodes
-- ARGV   1 name of the timeline   2 PUBLISH or SPUBLISH   3 channel prefix   4 field of the marker
--        5 marker   6 1 if it is an element, which has a place
-- Reply  1 if it was replaced, 0 if the timeline has another marker
--@include ids
--@include list
--@include publish
--@include rows
--@include marker

if redis.call('HGET', KEYS[2], ARGV[4]) ~= ARGV[5] then
  return 0
end
local entry = ARGV[6] == '1' and redis.call('LINDEX', KEYS[1], (entries_above(KEYS[1], ARGV[5])))
if entry and not is_mark(entry) then
  redis.call('HSET', KEYS[2], ARGV[4], entry)
else
  redis.call('HDEL', KEYS[2], ARGV[4])
end
publish(KEYS[4], ARGV[2], ARGV[3], '!', watched(KEYS[3], { ARGV[1] }))
return 1
