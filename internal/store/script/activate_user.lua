-- activate_user ends a registration: the account can be used and has an empty home.
--
-- KEYS   1 user   2 home
-- Reply  1, or 0 when the account is gone
local state = redis.call('HGET', KEYS[1], 'state')
if not state then
  return 0
end
if state == 'pending' then
  redis.call('HSET', KEYS[1], 'state', 'active')
  if redis.call('EXISTS', KEYS[2]) == 0 then
    redis.call('RPUSH', KEYS[2], '0')
  end
end
return 1
