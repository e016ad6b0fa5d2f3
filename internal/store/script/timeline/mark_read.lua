-- mark_read moves the marker of a timeline to an element, if that is nearer to the head of the list. An element that the list no
-- longer holds stands for the nearest older entry. A repeat has no effect.
--
-- KEYS   1 list   2 hash of the owner   3 online   4 online nodes
-- ARGV   1 name of the timeline   2 element   3 field of the marker   4 PUBLISH or SPUBLISH
--        5 channel prefix
-- Reply  1 if the marker moved, 0 if not, -1 if the owner is not active, -2 if the list has to be built first
--@include ids
--@include list
--@include publish
--@include rows
--@include marker

if redis.call('HGET', KEYS[2], 'state') ~= 'active' then
  return -1
end
local element = ARGV[2]
local above, held = entries_above(KEYS[1], element)
if not held then
  local last = redis.call('LINDEX', KEYS[1], -1)
  if not last or last == 'b' then
    return -2
  end
  local older = redis.call('LINDEX', KEYS[1], above)
  if older and older ~= '0' then
    element = older
  elseif above == 0 then
    return 0 -- nothing can be read
  end
end
local marker = redis.call('HGET', KEYS[2], ARGV[3])
if marker then
  local marked = entries_above(KEYS[1], marker)
  if above > marked or above == marked and not below(marker, element) then
    return 0
  end
end
redis.call('HSET', KEYS[2], ARGV[3], element)
publish(KEYS[4], ARGV[4], ARGV[5], '= ' .. element, watched(KEYS[3], { ARGV[1] }))
return 1
