-- create_user stores a pending account and queues the end of its registration. A repeat creates
-- another account; the worker deletes the one that does not get the name.
--
-- KEYS   1 next user   2 outbox
-- ARGV   1 bucket   2 account key prefix   3 username   4 folded username   5 display name
--        6 password hash   7 bio   8 creation time in milliseconds since 1970, '' for now
--        9 words of the display name, separated by spaces
-- Reply  the user's id
--@include clock
--@include idle

local sequence = math.max(tonumber(redis.call('GET', KEYS[1]) or '0') + 1, unix_ms())
redis.call('SET', KEYS[1], string.format('%.0f', sequence))
local user = string.format('%.0f', sequence * 1024 + tonumber(ARGV[1]))
redis.call('HSET', ARGV[2] .. user, 'name', ARGV[3], 'display', ARGV[5], 'words', ARGV[9], 'password', ARGV[6], 'state', 'pending',
  'created', ARGV[8] ~= '' and ARGV[8] or string.format('%.0f', sequence))
if ARGV[7] ~= '' then
  redis.call('HSET', ARGV[2] .. user, 'bio', ARGV[7])
end
if ARGV[8] ~= '' then
  redis.call('HSET', ARGV[2] .. user, 'last_read', today()) -- else the home would be idle from the start
end
redis.call('XADD', KEYS[2], '*', 'kind', 'register', 'user', user, 'name', ARGV[4])
return user
