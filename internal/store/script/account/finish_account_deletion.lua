-- finish_account_deletion removes everything a parting user still has, and the account itself. Who wrote a
-- post that somebody is just reading can still be told for a while.
--
-- KEYS   1 user   2… what the user has
-- ARGV   1 milliseconds
-- Reply  1, or 0 when there is nobody to forget
if redis.call('HGET', KEYS[1], 'state') ~= 'detaching' then
  return 0
end
redis.call('DEL', unpack(KEYS, 2))
redis.call('HDEL', KEYS[1], 'bio', 'words', 'posts', 'followers', 'following', 'session_gen', 'epoch', 'last_read', 'profile_trimmed', 'step')
redis.call('HSET', KEYS[1], 'state', 'deleted')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
