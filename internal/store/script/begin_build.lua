-- begin_build opens a list that does not exist, so that fan-out pushes to it from now on
-- while its older entries are gathered.
--
-- KEYS   1 list   2 user, or hash of the list of users
-- Reply  1 when there is somebody to build for, else 0
if redis.call('HGET', KEYS[2], 'state') ~= 'active' then
  return 0
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('RPUSH', KEYS[1], 'b')
end
return 1
