-- claim_name gives a name to a user if nobody has it.
--
-- KEYS   1 name
-- ARGV   1 user
-- Reply  the user who has the name
if redis.call('SET', KEYS[1], ARGV[1], 'NX') then
  return ARGV[1]
end
return redis.call('GET', KEYS[1])
