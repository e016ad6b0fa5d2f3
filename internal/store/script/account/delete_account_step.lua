-- delete_account_step deletes the next of what a leaving user has made, posts and then lists, and
-- queues the step after it: once for a step, however often it runs. Where nothing is left
-- it queues the parting, behind all deletions.
--
-- KEYS   1 user   2 profile   3 archive   4 lists   5 outbox   6 removals   7 online
--        8 online nodes
-- ARGV   1 user   2 step   3 posts a step   4 lists a step   5 removals kept
--        6 PUBLISH or SPUBLISH   7 channel prefix   8 post key prefix   9 list key prefix
-- Reply  1, or 0 when the step was done before
--@include clock
--@include publish
--@include tombstone
--@include listdeletion

local found = redis.call('HMGET', KEYS[1], 'state', 'step')
if found[1] ~= 'deleting' or found[2] ~= ARGV[2] then
  return 0
end
local user, step = ARGV[1], string.format('%.0f', tonumber(ARGV[2]) + 1)
redis.call('HSET', KEYS[1], 'step', step)

local at = {
  user = KEYS[1], lists = KEYS[4], outbox = KEYS[5], removals = KEYS[6], online = KEYS[7], nodes = KEYS[8],
  command = ARGV[6], channel = ARGV[7],
}
local most = tonumber(ARGV[3])
for _, list in ipairs({ KEYS[2], KEYS[3] }) do
  local posts = redis.call('LRANGE', list, 0, most - 1)
  for _, post in ipairs(posts) do
    leave_tombstone(at, ARGV[8] .. post, post, user, ARGV[5], ARGV[6], ARGV[7])
  end
  redis.call('LTRIM', list, #posts, -1)
  most = most - #posts
  if most == 0 then
    break
  end
end
if most > 0 then
  for _, list in ipairs(redis.call('ZRANGE', KEYS[4], 0, tonumber(ARGV[4]) - 1)) do
    begin_list_deletion(at, ARGV[9] .. list, list)
  end
end

if redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4]) > 0 then
  redis.call('XADD', KEYS[5], '*', 'kind', 'delete_account', 'user', user, 'step', step)
else
  redis.call('XADD', KEYS[5], '*', 'kind', 'detach', 'author', user, 'step', step)
end
return 1
