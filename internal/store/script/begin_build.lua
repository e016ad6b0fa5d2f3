-- begin_build opens a list that does not exist, so that fan-out pushes to it from now on
-- while its older entries are gathered.
--
-- KEYS   1 list   2 user, or hash of the list of users   3 large authors
-- ARGV   1 reader whose home it is, else ''   2 tag
-- Reply  1 when there is somebody to build for, else 0
--@include ids
--@include list
--@include weave
--@include publish
--@include sync

if redis.call('HGET', KEYS[2], 'state') ~= 'active' then
  return 0
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('RPUSH', KEYS[1], 'b')
end
-- What large authors have posted by now is among what will be gathered.
if ARGV[1] ~= '' and redis.call('EXISTS', KEYS[3]) == 1 then
  mark(ARGV[2], ARGV[1], redis.call('SMEMBERS', KEYS[3]))
end
return 1
