-- detach_following removes both directions of the next follows of a user in the state detaching. It
-- records the authors until their followers have been counted; until then a repeat returns the same
-- authors.
--
-- KEYS   1 account   2 following   3 uncounted   4 clock
-- ARGV   1 user   2 follows per call   3 prefix of the keys of an author's followers
-- Reply  { version, author, followers of the author here, author, followers, … }
--@include clock

local reply = { string.format('%.0f', tick(KEYS[4])) }
if redis.call('HGET', KEYS[1], 'state') ~= 'detaching' then
  return reply
end
if redis.call('EXISTS', KEYS[3]) == 0 then
  local authors = redis.call('ZRANGE', KEYS[2], 0, tonumber(ARGV[2]) - 1)
  if #authors > 0 then
    for _, author in ipairs(authors) do
      redis.call('ZREM', ARGV[3] .. author, ARGV[1])
    end
    redis.call('ZREM', KEYS[2], unpack(authors))
    redis.call('HINCRBY', KEYS[1], 'following', -#authors)
    redis.call('SADD', KEYS[3], unpack(authors))
  end
end
for _, author in ipairs(redis.call('SMEMBERS', KEYS[3])) do
  reply[#reply + 1] = author
  reply[#reply + 1] = redis.call('ZCARD', ARGV[3] .. author)
end
return reply
