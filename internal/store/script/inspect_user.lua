-- inspect_user reads what is stored about a user, in one step.
--
-- KEYS   1 user   2 following   3 profile   4 reach   5 lists of the user
-- Reply  { { state, name, posts, following, followers, profile_trimmed }, following there,
--        posts on the profile, reach as field, value, …, lists }
return {
  redis.call('HMGET', KEYS[1], 'state', 'name', 'posts', 'following', 'followers', 'profile_trimmed'),
  redis.call('ZCARD', KEYS[2]),
  redis.call('LLEN', KEYS[3]),
  redis.call('HGETALL', KEYS[4]),
  redis.call('ZRANGE', KEYS[5], 0, -1),
}
