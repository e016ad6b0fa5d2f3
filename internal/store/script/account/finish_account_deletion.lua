-- finish_account_deletion deletes what remains of a user in the state detaching. The name and the
-- display name stay for a while, for readers of a page that already holds a post of the user.
--
-- KEYS   1 account   2… the user's other keys
-- ARGV   1 TTL of the account in milliseconds
-- Reply  1, or 0 if the account is not in the state detaching
if redis.call('HGET', KEYS[1], 'state') ~= 'detaching' then
  return 0
end
redis.call('UNLINK', unpack(KEYS, 2)) -- a user may have hundreds of thousands of reposts
redis.call('HDEL', KEYS[1], 'bio', 'words', 'posts', 'followers', 'following', 'session_gen', 'epoch', 'last_read', 'profile_trimmed', 'step',
  'marker', 'mentions_marker')
redis.call('HSET', KEYS[1], 'state', 'deleted')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
