-- read_profiles reads stretches of several profiles of one partition. They are sorted by id,
-- newest first, so that a place is found by bisection, also that of a deleted post.
--
-- KEYS   profiles
-- ARGV   1 'older' or 'newer'   2 count; then for each profile the post to start from,
--        exclusive: '' for the newest (older) or the oldest (newer)
-- Reply  for each profile up to count posts, newest first, nearest to the start
--@include ids

-- first_below returns the index of the first entry with an id below the post's.
local function first_below(profile, post)
  local low, high = 0, redis.call('LLEN', profile)
  if high > 0 and below(redis.call('LINDEX', profile, 0), post) then
    return 0
  end
  while low < high do
    local middle = math.floor((low + high) / 2)
    if below(redis.call('LINDEX', profile, middle), post) then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

local count = tonumber(ARGV[2])
local replies = {}
for i, profile in ipairs(KEYS) do
  local post = ARGV[i + 2]
  if ARGV[1] == 'older' then
    local from = post == '' and 0 or first_below(profile, post)
    replies[i] = redis.call('LRANGE', profile, from, from + count - 1)
  else
    local to = redis.call('LLEN', profile)
    if post ~= '' then
      to = first_below(profile, post)
      if redis.call('LINDEX', profile, to - 1) == post then
        to = to - 1
      end
    end
    replies[i] = to > 0 and redis.call('LRANGE', profile, math.max(0, to - count), to - 1) or {}
  end
end
return replies
