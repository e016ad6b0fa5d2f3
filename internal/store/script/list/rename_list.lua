-- rename_list changes the name of a list.
--
-- KEYS   1 list
-- ARGV   1 owner   2 name
-- Reply  'ok', 'missing', or 'forbidden' if the list has another owner
--@include listowner

local state = check_owner(KEYS[1], ARGV[1])
if state == 'ok' then
  redis.call('HSET', KEYS[1], 'name', ARGV[2])
end
return state
