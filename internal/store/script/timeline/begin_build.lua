-- begin_build opens a list that does not exist, so that fan-out pushes to it from now on
-- while its older entries are gathered.
--
-- KEYS   1 list   2 user, or hash of the list of users   3 large authors
-- ARGV   1 reader whose home it is, else ''   2 tag
-- Reply  the generation of the list, which the building ends with; nothing where there is
--        nobody to build for
--@include ids
--@include list
--@include merge
--@include publish
--@include progress
--@include mergemarks
--@include pull

if redis.call('HGET', KEYS[2], 'state') ~= 'active' then
  return false
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('RPUSH', KEYS[1], 'b')
  -- A building of an earlier list, which is gone, does not end that of this one.
  redis.call('HINCRBY', KEYS[2], 'epoch', 1)
end
-- What large authors have posted by now is among what will be gathered.
if ARGV[1] ~= '' and redis.call('EXISTS', KEYS[3]) == 1 then
  mark(ARGV[2], ARGV[1], redis.call('SMEMBERS', KEYS[3]))
end
return redis.call('HGET', KEYS[2], 'epoch') or '0'
