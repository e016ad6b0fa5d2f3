-- repair_counts recounts the counts of a user.
--
-- KEYS   1 account   2 following   3 profile   4 follower partitions   5 reposts of the user
-- Reply  'ok'
if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return 'ok'
end
local posts = redis.call('LLEN', KEYS[3]) - redis.call('HLEN', KEYS[5])
if redis.call('HEXISTS', KEYS[1], 'profile_trimmed') == 1 then
  -- The count includes posts that were trimmed from the profile. No other record counts them.
  posts = math.max(posts, tonumber(redis.call('HGET', KEYS[1], 'posts') or '0'))
end
local followers, partitions = 0, redis.call('HGETALL', KEYS[4])
for i = 1, #partitions, 2 do
  if string.sub(partitions[i], 1, 1) ~= 'l' then
    followers = followers + tonumber(string.match(partitions[i + 1], ':(%d+)$') or '0')
  end
end
redis.call('HSET', KEYS[1], 'posts', posts, 'following', redis.call('ZCARD', KEYS[2]), 'followers', followers)
return 'ok'
