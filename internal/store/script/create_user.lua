-- create_user stores an account that cannot be used yet, and queues the end of its
-- registration. A repeat makes another account; the queue removes the one without a name.
--
-- KEYS   1 next user   2 outbox
-- ARGV   1 bucket   2 user key prefix   3 username   4 folded username   5 display name
--        6 password hash
-- Reply  the user's id
--@include clock

local sequence = math.max(tonumber(redis.call('GET', KEYS[1]) or '0') + 1, unix_ms() - EPOCH * 1000)
redis.call('SET', KEYS[1], string.format('%.0f', sequence))
local user = string.format('%.0f', sequence * 1024 + tonumber(ARGV[1]))
redis.call('HSET', ARGV[2] .. user, 'name', ARGV[3], 'display', ARGV[5], 'password', ARGV[6],
  'created', string.format('%.0f', sequence + EPOCH * 1000), 'state', 'pending')
redis.call('XADD', KEYS[2], '*', 'kind', 'register', 'user', user, 'name', ARGV[4])
return user
