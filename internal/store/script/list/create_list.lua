-- create_list creates an empty list of users. A repeat with the same idempotency key returns the
-- first list.
--
-- KEYS   1 account of the owner   2 lists of the owner   3 next user   4 idempotency
-- ARGV   1 owner   2 name   3 bucket   4 maximum number of lists   5 list key prefix
--        6 TTL of the idempotency key in seconds
-- Reply  { 'ok', list }, { 'no_user' } if there is no such owner, or { 'limit' }
--@include clock

local earlier = redis.call('GET', KEYS[4])
if earlier then
  return { 'ok', earlier }
end
if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return { 'no_user' }
end
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[4]) then
  return { 'limit' }
end
local now = unix_ms()
local sequence = math.max(tonumber(redis.call('GET', KEYS[3]) or '0') + 1, now)
redis.call('SET', KEYS[3], string.format('%.0f', sequence))
local list = string.format('%.0f', sequence * 1024 + tonumber(ARGV[3]))
redis.call('HSET', ARGV[5] .. list, 'owner', ARGV[1], 'name', ARGV[2], 'created', string.format('%.0f', now), 'state', 'active')
redis.call('RPUSH', ARGV[5] .. list .. ':posts', '0')
redis.call('ZADD', KEYS[2], string.format('%.0f', sequence), list)
redis.call('SET', KEYS[4], list, 'EX', ARGV[6])
return { 'ok', list }
