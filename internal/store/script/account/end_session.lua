-- end_session ends one session and announces it to the API processes.
--
-- KEYS   1 session
-- ARGV   1 sessions key prefix   2 bucket   3 hash of the token
-- Reply  'ok'
local user = redis.call('HGET', KEYS[1], 'user')
if user then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', ARGV[1] .. user, ARGV[3])
  redis.call('PUBLISH', 'retwis:sessions', user .. ' ' .. ARGV[2] .. ' ' .. ARGV[3])
end
return 'ok'
