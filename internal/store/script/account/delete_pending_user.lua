-- delete_pending_user deletes an account whose registration was not finished. It does not change
-- other accounts.
--
-- KEYS   1 account
-- Reply  'ok'
if redis.call('HGET', KEYS[1], 'state') == 'pending' then
  redis.call('DEL', KEYS[1])
end
return 'ok'
