-- repair_counts counts again what a user's counts are about.
--
-- KEYS   1 user   2 following   3 profile   4 reach
-- Reply  'ok'
if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return 'ok'
end
local posts = redis.call('LLEN', KEYS[3])
if redis.call('HEXISTS', KEYS[1], 'profile_trimmed') == 1 then
  -- Posts that have left the profile are counted too, and nothing else says how many.
  posts = math.max(posts, tonumber(redis.call('HGET', KEYS[1], 'posts') or '0'))
end
local followers, reach = 0, redis.call('HGETALL', KEYS[4])
for i = 1, #reach, 2 do
  if string.sub(reach[i], 1, 1) ~= 'l' then
    followers = followers + tonumber(string.match(reach[i + 1], ':(%d+)$') or '0')
  end
end
redis.call('HSET', KEYS[1], 'posts', posts, 'following', redis.call('ZCARD', KEYS[2]), 'followers', followers)
return 'ok'
