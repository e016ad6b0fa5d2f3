-- set_online records that a node serves subscriptions of timelines, until its presence expires. It
-- also removes some expired presence of any node.
--
-- KEYS   1 online   2 online nodes   3 online expiry
-- ARGV   1 node   2 TTL in milliseconds   3… timelines
-- Reply  the positions, from 1, of the timelines that the node was not recorded for before: their
--        messages did not reach it
--@include clock
--@include presence

local now = unix_ms()
local lapses = string.format('%.0f', now + tonumber(ARGV[2]))
local absent = {}
for i = 3, #ARGV do
  local name = ARGV[i]
  local nodes = redis.call('HGET', KEYS[2], name) or ''
  if not string.find(' ' .. nodes .. ' ', ' ' .. ARGV[1] .. ' ', 1, true) then
    redis.call('HSET', KEYS[2], name, nodes == '' and ARGV[1] or nodes .. ' ' .. ARGV[1])
    redis.call('SADD', KEYS[1], name)
    absent[#absent + 1] = i - 2
  end
  redis.call('ZADD', KEYS[3], lapses, name .. ' ' .. ARGV[1])
end
for _, lapsed in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', string.format('%.0f', now), 'LIMIT', 0, 200)) do
  local name, node = string.match(lapsed, '^(%S+) (%S+)$')
  remove_node(name, node)
end
return absent
