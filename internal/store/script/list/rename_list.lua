-- rename_list gives a list another name.
--
-- KEYS   1 list
-- ARGV   1 owner   2 name
-- Reply  'ok', 'missing' or 'forbidden' when it is another owner's
--@include listowner

local state = check_owner(KEYS[1], ARGV[1])
if state == 'ok' then
  redis.call('HSET', KEYS[1], 'name', ARGV[2])
end
return state
