-- store_document stores a document that clients name by its hash. If there are too many documents,
-- it deletes the least recently used ones.
--
-- KEYS   1 document   2 documents by last use
-- ARGV   1 hash   2 text   3 TTL in seconds   4 maximum number of documents
--        5 document key prefix
-- Reply  1
--@include clock

local now = unix_ms()
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now - 1000 * tonumber(ARGV[3])))
redis.call('ZADD', KEYS[2], string.format('%.0f', now), ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[3])
local surplus = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[4])
if surplus > 0 then
  for _, hash in ipairs(redis.call('ZRANGE', KEYS[2], 0, surplus - 1)) do
    redis.call('DEL', ARGV[5] .. hash)
    redis.call('ZREM', KEYS[2], hash)
  end
end
return 1
