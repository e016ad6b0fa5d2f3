-- find_document returns a document by its hash and renews its TTL.
--
-- KEYS   1 document   2 documents by last use
-- ARGV   1 hash   2 TTL in seconds
-- Reply  the text, or '' if there is no such document
--@include clock

local text = redis.call('GET', KEYS[1])
if not text then
  return ''
end
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('ZADD', KEYS[2], string.format('%.0f', unix_ms()), ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[2])
return text
