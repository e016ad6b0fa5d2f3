-- push_to_timeline delivers a post to a single timeline: the public timeline, the mentions of a user or the timeline of a
-- hashtag. It acts once per entry. A repair also searches the list for the element, because a requeued entry has
-- a new id.
--
-- KEYS   1 progress   2 list   3 online   4 online nodes   5 unless it is the public timeline: the user
--        or hashtag that it belongs to, which may have been deleted since
-- ARGV   1 entry   2 element   3 cap   4 slack   5 PUBLISH or SPUBLISH   6 channel prefix
--        7 field of the progress   8 name of the timeline   9 whether to search the list, 1 or 0
-- Reply  { 'done', lists that the element was pushed to }
--@include ids
--@include progress
--@include list
--@include publish

local entry, element = ARGV[1], ARGV[2]
if entry_progress(KEYS[1], entry, ARGV[7]) == 'done' then
  return { 'done', 0 }
end
if KEYS[5] and redis.call('HGET', KEYS[5], 'state') ~= 'active' then
  redis.call('HSET', KEYS[1], ARGV[7], 'done')
  return { 'done', 0 }
end
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('RPUSH', KEYS[2], '0')
end
redis.call('HSET', KEYS[1], ARGV[7], 'done')
if ARGV[9] == '1' and redis.call('LPOS', KEYS[2], element) then
  return { 'done', 0 }
end
local before = head(KEYS[2])
push(KEYS[2], element, tonumber(ARGV[3]), tonumber(ARGV[4]))
publish(KEYS[4], ARGV[5], ARGV[6], '+ ' .. element, watched(KEYS[3], { ARGV[8] }), { before })
return { 'done', 1 }
