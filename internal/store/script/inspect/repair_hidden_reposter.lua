-- repair_hidden_reposter removes a user from those whose reposts a home does not show, unless the owner follows the user.
--
-- KEYS   1 users whose reposts the home does not show   2 following
-- ARGV   1 user
-- Reply  1 if the user was removed, else 0
if redis.call('ZSCORE', KEYS[2], ARGV[1]) then
  return 0
end
return redis.call('SREM', KEYS[1], ARGV[1])
