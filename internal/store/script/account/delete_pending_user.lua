-- delete_pending_user removes an account whose registration did not end. One in use stays.
--
-- KEYS   1 user
-- Reply  'ok'
if redis.call('HGET', KEYS[1], 'state') == 'pending' then
  redis.call('DEL', KEYS[1])
end
return 'ok'
