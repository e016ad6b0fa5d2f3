-- continue_detach queues the next step of detaching a user. A repeat of a step has no effect.
--
-- KEYS   1 account   2 outbox
-- ARGV   1 user   2 step   3 origin of the entry: see lib/enqueue.lua
-- Reply  1, or 0 if the next step has been queued before
--@include enqueue

local found = redis.call('HMGET', KEYS[1], 'state', 'step')
if found[1] ~= 'detaching' or found[2] ~= ARGV[2] then
  return 0
end
local step = string.format('%.0f', tonumber(ARGV[2]) + 1)
redis.call('HSET', KEYS[1], 'step', step)
enqueue(KEYS[2], { 'kind', 'detach', 'author', ARGV[1], 'step', step }, ARGV[3])
return 1
