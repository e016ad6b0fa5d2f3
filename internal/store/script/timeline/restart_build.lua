-- restart_build empties the list of a timeline and marks it as being built: fan-out pushes to it, and
-- the next read adds older posts. Subscribers receive a change message.
--
-- KEYS   1 list   2 owner: account, or properties of the list   3 online   4 online nodes
-- ARGV   1 name of the timeline   2 '1' to skip a missing list, else '0'
--        3 PUBLISH or SPUBLISH   4 channel prefix
-- Reply  1, or 0 if the owner is not active or the list was skipped
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
