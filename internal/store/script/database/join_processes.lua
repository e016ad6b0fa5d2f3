-- join_processes stores what a process does now, and counts the other processes.
--
-- KEYS   1 processes that serve operations   2 processes that deliver
-- ARGV   1 name of the process   2 '1' if it serves operations   3 '1' if it delivers   4 TTL in milliseconds
-- Reply  { other processes that serve operations; other processes that deliver }
--@include clock

local now = unix_ms()

local function others(processes, joins)
  if joins == '1' then
    redis.call('ZADD', processes, now + ARGV[4], ARGV[1])
    redis.call('PEXPIRE', processes, ARGV[4])
  end
  redis.call('ZREMRANGEBYSCORE', processes, '-inf', now)
  local own = redis.call('ZSCORE', processes, ARGV[1]) and 1 or 0
  return redis.call('ZCARD', processes) - own
end

return {others(KEYS[1], ARGV[2]), others(KEYS[2], ARGV[3])}
