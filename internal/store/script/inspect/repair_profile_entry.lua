-- repair_profile_entry puts a post at its position on its author's profile, and removes its other
-- entries there. It removes a post that is deleted, unknown or of another author.
--
-- KEYS   1 profile   2 post
-- ARGV   1 post   2 author
-- Reply  1 if the post is on the profile now, else 0
--@include ids

redis.call('LREM', KEYS[1], 0, ARGV[1])
local stored = redis.call('HMGET', KEYS[2], 'author', 'deleted')
if stored[1] ~= ARGV[2] or stored[2] then
  return 0
end
local low, high = 0, redis.call('LLEN', KEYS[1])
while low < high do
  local middle = math.floor((low + high) / 2)
  if below(redis.call('LINDEX', KEYS[1], middle), ARGV[1]) then
    high = middle
  else
    low = middle + 1
  end
end
local next = redis.call('LINDEX', KEYS[1], low)
if next then
  redis.call('LINSERT', KEYS[1], 'BEFORE', next, ARGV[1])
else
  redis.call('RPUSH', KEYS[1], ARGV[1])
end
return 1
