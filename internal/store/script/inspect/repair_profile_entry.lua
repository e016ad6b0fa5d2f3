-- repair_profile_entry puts an entry at its position on its author's profile, in the form that the post's record
-- determines, and removes all others of the post there. It removes one that is deleted, unknown or of another author.
--
-- KEYS   1 profile   2 post or repost
-- ARGV   1 entry   2 author
-- Reply  1 if the entry is on the profile now, else 0
--@include ids
--@include search

local stored = redis.call('HMGET', KEYS[2], 'author', 'deleted', 'answered', 'reposted')
local right = element_of(leading(ARGV[1]), ARGV[2], stored[3], stored[4])
redis.call('LREM', KEYS[1], 0, ARGV[1])
redis.call('LREM', KEYS[1], 0, right)
if stored[1] ~= ARGV[2] or stored[2] then
  return 0
end
local next = redis.call('LINDEX', KEYS[1], first_below(KEYS[1], right))
if next then
  redis.call('LINSERT', KEYS[1], 'BEFORE', next, right)
else
  redis.call('RPUSH', KEYS[1], right)
end
return 1
