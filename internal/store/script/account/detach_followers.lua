-- detach_followers takes the next followers in this partition off a parting author, or the
-- author off the next lists: both directions of each.
--
-- KEYS   1 followers of the author here, or lists that hold the author
--        2 with followers: pulled   3 with followers: large authors
-- ARGV   1 author   2 edges a call   3 and 4 what stands before and after an id in the key
--        of the other direction   5 and 6 with followers: key prefixes of users and of marks
-- Reply  1 when nothing is left, else 0
local author, homes = ARGV[1], #KEYS > 1
local found = redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[2]) - 1)
for _, id in ipairs(found) do
  if redis.call('ZREM', ARGV[3] .. id .. ARGV[4], author) == 1 and homes then
    redis.call('HINCRBY', ARGV[5] .. id, 'following', -1)
    redis.call('HDEL', ARGV[6] .. id, author)
  end
end
if #found > 0 then
  redis.call('ZREM', KEYS[1], unpack(found))
end
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
if homes then
  redis.call('DEL', KEYS[2])
  redis.call('SREM', KEYS[3], author)
end
return 1
