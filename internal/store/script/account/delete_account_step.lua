-- delete_account_step deletes the next posts of an account, then the next lists, and queues the
-- following step. When neither posts nor lists remain, it queues the detach entry, behind all
-- deletions. A repeat of a step has no effect.
--
-- KEYS   1 account   2 profile   3 trimmed posts   4 lists   5 outbox   6 changes   7 online
--        8 online nodes
-- ARGV   1 user   2 step   3 posts per step   4 lists per step   5 changes to keep
--        6 PUBLISH or SPUBLISH   7 channel prefix   8 post key prefix   9 list key prefix
--        10 origin of the entries: see lib/enqueue.lua
-- Reply  1, or 0 if the step has been carried out before
--@include clock
--@include ids
--@include publish
--@include changes
--@include enqueue
--@include tombstone
--@include listdeletion

local found = redis.call('HMGET', KEYS[1], 'state', 'step')
if found[1] ~= 'deleting' or found[2] ~= ARGV[2] then
  return 0
end
local user, step = ARGV[1], string.format('%.0f', tonumber(ARGV[2]) + 1)
redis.call('HSET', KEYS[1], 'step', step)

local keys = {
  user = KEYS[1], lists = KEYS[4], outbox = KEYS[5], changes = KEYS[6], online = KEYS[7], nodes = KEYS[8],
  command = ARGV[6], channel = ARGV[7], origin = ARGV[10],
}
local left = tonumber(ARGV[3])
for _, list in ipairs({ KEYS[2], KEYS[3] }) do
  local entries = redis.call('LRANGE', list, 0, left - 1)
  for _, entry in ipairs(entries) do
    local post = leading(entry)
    leave_tombstone(keys, ARGV[8] .. post, post, user, ARGV[5], ARGV[6], ARGV[7])
  end
  redis.call('LTRIM', list, #entries, -1)
  left = left - #entries
  if left == 0 then
    break
  end
end
if left > 0 then
  for _, list in ipairs(redis.call('ZRANGE', KEYS[4], 0, tonumber(ARGV[4]) - 1)) do
    begin_list_deletion(keys, ARGV[9] .. list, list, user)
  end
end

if redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4]) > 0 then
  enqueue(KEYS[5], { 'kind', 'delete_account', 'user', user, 'step', step }, ARGV[10])
else
  enqueue(KEYS[5], { 'kind', 'detach', 'author', user, 'step', step }, ARGV[10])
end
return 1
