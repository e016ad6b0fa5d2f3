-- begin_part notes that the deletions of all that a leaving user made have been told to
-- everybody, so that the user can be cut off. A repeat changes nothing.
--
-- KEYS   1 user
-- Reply  1, or 0 when there is nobody to cut off
local state = redis.call('HGET', KEYS[1], 'state')
if state == 'leaving' then
  redis.call('HSET', KEYS[1], 'state', 'parting')
  return 1
end
return state == 'parting' and 1 or 0
