-- continue_detach queues the next step of detaching a user. A repeat of a step has no effect.
--
-- KEYS   1 account   2 outbox
-- ARGV   1 user   2 step
-- Reply  1, or 0 if the next step has been queued before
local found = redis.call('HMGET', KEYS[1], 'state', 'step')
if found[1] ~= 'detaching' or found[2] ~= ARGV[2] then
  return 0
end
local step = string.format('%.0f', tonumber(ARGV[2]) + 1)
redis.call('HSET', KEYS[1], 'step', step)
redis.call('XADD', KEYS[2], '*', 'kind', 'detach', 'author', ARGV[1], 'step', step)
return 1
