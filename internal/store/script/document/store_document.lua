-- store_document stores a document that clients name by its hash. If there are too many documents,
-- it deletes the least recently used ones; if the holder has too many, those that it stored first.
--
-- KEYS   1 document   2 documents by last use   3 documents of the holder
-- ARGV   1 hash   2 text   3 TTL in seconds   4 maximum number of documents
--        5 maximum number of the holder   6 document key prefix
-- Reply  1
--@include clock

local function forget(hash)
  redis.call('DEL', ARGV[6] .. hash)
  redis.call('ZREM', KEYS[2], hash)
  redis.call('ZREM', KEYS[3], hash)
end

local function cap(index, most)
  local surplus = redis.call('ZCARD', index) - most
  if surplus > 0 then
    for _, hash in ipairs(redis.call('ZRANGE', index, 0, surplus - 1)) do
      forget(hash)
    end
  end
end

local now = unix_ms()
local score = string.format('%.0f', now)
local expired = string.format('%.0f', now - 1000 * tonumber(ARGV[3]))
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', expired)
  redis.call('ZADD', KEYS[3], score, ARGV[1])
  redis.call('EXPIRE', KEYS[3], ARGV[3])
end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', expired)
redis.call('ZADD', KEYS[2], score, ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[3])
cap(KEYS[3], tonumber(ARGV[5]))
cap(KEYS[2], tonumber(ARGV[4]))
return 1
