-- raise_filter_epoch raises the filter epoch of a user, and publishes a change message to the user's watched home and
-- mentions, whose processes compare it.
--
-- KEYS   1 account   2 online   3 online nodes
-- ARGV   1 user   2 PUBLISH or SPUBLISH   3 channel prefix
-- Reply  the filter epoch, or 0 if there is no such user
--@include publish
if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return 0
end
local epoch = redis.call('HINCRBY', KEYS[1], 'filter_epoch', 1)
publish(KEYS[3], ARGV[2], ARGV[3], '!', watched(KEYS[2], { 'h' .. ARGV[1], 'm' .. ARGV[1] }))
return epoch
