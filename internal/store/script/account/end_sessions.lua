-- end_sessions ends every session of a user and announces it to the API processes.
--
-- KEYS   1 account   2 sessions
-- ARGV   1 user   2 bucket   3 session key prefix
-- Reply  'ok'
--@include session
if redis.call('EXISTS', KEYS[1]) == 1 then
  end_all_sessions(KEYS[1], KEYS[2], ARGV[3], ARGV[1], ARGV[2])
end
return 'ok'
