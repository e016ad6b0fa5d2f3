-- restart_build empties a timeline's list and leaves it as one that is being built: fan-out pushes
-- to it, and whoever reads it gathers the rest. Subscribers are told that it changed.
--
-- KEYS   1 list   2 user, or hash of the list of users   3 online   4 online nodes
-- ARGV   1 name of the timeline   2 '1' to leave one that is not there as it is, else '0'
--        3 PUBLISH or SPUBLISH   4 channel prefix
-- Reply  1, or 0 when there is nobody to build for, or no list and none is wanted
--@include publish
--@include restartbuild

if redis.call('HGET', KEYS[2], 'state') ~= 'active' then
  return 0
end
if ARGV[2] == '1' and redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
restart_build(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[3], ARGV[4], ARGV[1])
return 1
