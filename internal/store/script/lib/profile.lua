-- add_to_profile adds a post that is newer than all others of a profile. It moves posts above the cap to
-- the trimmed posts, from which account deletion deletes them.
local function add_to_profile(account, profile, trimmed_posts, post, cap, slack)
  local length = redis.call('LPUSH', profile, post)
  if length <= cap + slack then
    return
  end
  local surplus = math.min(length - cap, slack + 1)
  local old = redis.call('LRANGE', profile, -surplus, -1)
  redis.call('LTRIM', profile, 0, -surplus - 1)
  for i = #old, 1, -1 do
    redis.call('LPUSH', trimmed_posts, old[i])
  end
  redis.call('HSET', account, 'profile_trimmed', 1)
end
