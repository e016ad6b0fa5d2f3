-- detach_followers removes both directions of the next edges to an author in this partition: the
-- followers, or the lists that contain the author.
--
-- KEYS   1 followers of the author, or lists that contain the author
--        2 for followers: pulled posts   3 for followers: large authors
-- ARGV   1 author   2 edges per call   3 and 4 prefix and suffix of the keys of the other direction
--        5, 6 and 7 for followers: prefixes of account keys, pull watermark keys and hidden reposter keys
-- Reply  1 if no edge remains, else 0
local author, homes = ARGV[1], #KEYS > 1
local found = redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[2]) - 1)
for _, id in ipairs(found) do
  if redis.call('ZREM', ARGV[3] .. id .. ARGV[4], author) == 1 and homes then
    redis.call('HINCRBY', ARGV[5] .. id, 'following', -1)
    redis.call('HDEL', ARGV[6] .. id, author)
    redis.call('SREM', ARGV[7] .. id, author)
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
