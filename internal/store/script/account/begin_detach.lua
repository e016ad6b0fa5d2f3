-- begin_detach notes that the deletions of all that a leaving user made have been told to
-- everybody, so that the user can be cut off. Those who watch what the user wrote find
-- that there is nothing more to come. A repeat changes nothing.
--
-- KEYS   1 user   2 online   3 online nodes
-- ARGV   1 user   2 PUBLISH or SPUBLISH   3 channel prefix
-- Reply  1, or 0 when there is nobody to cut off
--@include publish

local state = redis.call('HGET', KEYS[1], 'state')
if state == 'deleting' then
  redis.call('HSET', KEYS[1], 'state', 'detaching')
  publish(KEYS[3], ARGV[2], ARGV[3], '!', watched(KEYS[2], { 'u' .. ARGV[1], 'h' .. ARGV[1], 'm' .. ARGV[1] }))
  return 1
end
return state == 'detaching' and 1 or 0
