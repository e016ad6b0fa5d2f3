-- begin_detach moves an account from the state deleting to detaching. The caller has announced the
-- deletion of all posts. Subscribers of the user's timelines receive a change message, and find that
-- the timelines have ended. A repeat has no effect.
--
-- KEYS   1 account   2 online   3 online nodes
-- ARGV   1 user   2 PUBLISH or SPUBLISH   3 channel prefix
-- Reply  1 if the account is in the state detaching, else 0
--@include publish

local state = redis.call('HGET', KEYS[1], 'state')
if state == 'deleting' then
  redis.call('HSET', KEYS[1], 'state', 'detaching')
  publish(KEYS[3], ARGV[2], ARGV[3], '!', watched(KEYS[2], { 'u' .. ARGV[1], 'r' .. ARGV[1], 'h' .. ARGV[1], 'm' .. ARGV[1] }))
  return 1
end
return state == 'detaching' and 1 or 0
