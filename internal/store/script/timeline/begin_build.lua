-- begin_build creates the list of a timeline if it is missing. Fan-out pushes to the list from then
-- on, while the caller reads older posts.
--
-- KEYS   1 list   2 owner: account, or properties of the list   3 large authors   4 online nodes
-- ARGV   see lib/pullonread.lua
-- Reply  the epoch of the list, to pass to merge; nothing if the owner is not active

if redis.call('HGET', KEYS[2], 'state') ~= 'active' then
  return false
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('RPUSH', KEYS[1], 'b')
  -- A build of an earlier list must not end the build of this one.
  redis.call('HINCRBY', KEYS[2], 'epoch', 1)
end
-- The caller reads the newest posts, also those that large authors have created up to now. It may not read posts
-- with small ids that have to follow others of the home, so those are pulled before.
if ARGV[1] ~= '' and redis.call('EXISTS', KEYS[3]) == 1 then
  --@include ids
  --@include list
  --@include search
  --@include merge
  --@include publish
  --@include progress
  --@include mergemarks
  --@include rows
  --@include members
  --@include visibility
  --@include repeats
  --@include pull
  --@include pullonread
  pull_on_read(KEYS[3], KEYS[4], ARGV, 1)
  set_pull_watermarks(ARGV[2], ARGV[1], redis.call('SMEMBERS', KEYS[3]))
end
return redis.call('HGET', KEYS[2], 'epoch') or '0'
