-- delete_list_step removes the next members of a deleted list, and at the end the list itself. It
-- does not change an active list.
--
-- KEYS   1 list   2 members   3 posts
-- ARGV   1 list   2 members per call   3 prefix of the keys of lists that contain an author
-- Reply  1 if no member remains, else 0
if redis.call('HGET', KEYS[1], 'state') == 'active' then
  return 1
end
local members = redis.call('ZRANGE', KEYS[2], 0, tonumber(ARGV[2]) - 1)
for _, author in ipairs(members) do
  redis.call('ZREM', ARGV[3] .. author, ARGV[1])
end
if #members > 0 then
  redis.call('ZREM', KEYS[2], unpack(members))
end
if redis.call('ZCARD', KEYS[2]) > 0 then
  return 0
end
redis.call('DEL', KEYS[1], KEYS[3])
return 1
