-- put_on_profile adds a post that is newer than all others there. What leaves the profile is
-- still the author's, to be found when the account ends.
local function put_on_profile(user, profile, archive, post, cap, slack)
  local length = redis.call('LPUSH', profile, post)
  if length <= cap + slack then
    return
  end
  local surplus = math.min(length - cap, slack + 1)
  local old = redis.call('LRANGE', profile, -surplus, -1)
  redis.call('LTRIM', profile, 0, -surplus - 1)
  for i = #old, 1, -1 do
    redis.call('LPUSH', archive, old[i])
  end
  redis.call('HSET', user, 'profile_trimmed', 1)
end
