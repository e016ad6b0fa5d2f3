-- delete_post leaves a tombstone of a post, takes it off the profile at once and queues
-- its removal elsewhere. A repeat changes nothing.
--
-- KEYS   1 post   2 profile   3 user   4 outbox   5 removals   6 online   7 online nodes
-- ARGV   1 viewer   2 post   3 removals kept   4 PUBLISH or SPUBLISH   5 channel prefix
-- Reply  'ok', 'missing' or 'other' when it is another author's
--@include clock
--@include publish

local author = redis.call('HGET', KEYS[1], 'author')
if not author then
  return 'missing'
end
if author ~= ARGV[1] then
  return 'other'
end
if redis.call('HEXISTS', KEYS[1], 'deleted') == 1 then
  return 'ok'
end
redis.call('HDEL', KEYS[1], 'text')
redis.call('HSET', KEYS[1], 'deleted', string.format('%.0f', unix_ms()))
redis.call('LREM', KEYS[2], 1, ARGV[2])
redis.call('HINCRBY', KEYS[3], 'posts', -1)
local mentions = redis.call('HGET', KEYS[1], 'mentions')
redis.call('XADD', KEYS[4], '*', 'kind', 'delete', 'author', author, 'post', ARGV[2],
  unpack(mentions and { 'mentions', mentions } or {}))
redis.call('XADD', KEYS[5], 'MAXLEN', ARGV[3], '*', 'post', ARGV[2], 'author', author)
publish(KEYS[7], ARGV[4], ARGV[5], '- ' .. ARGV[2] .. ' ' .. author, watched(KEYS[6], { 'h' .. author, 'u' .. author }))
return 'ok'
