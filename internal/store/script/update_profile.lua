-- update_profile sets fields of an active account.
--
-- KEYS   1 user
-- ARGV   field, value, …
-- Reply  1, or 0 without such an account
if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return 0
end
if #ARGV > 0 then
  redis.call('HSET', KEYS[1], unpack(ARGV))
end
return 1
