-- join_processes stores for a while what a process tells the others, and returns what those tell.
--
-- KEYS   1 what processes tell
-- ARGV   1 name of the process   2 TTL in milliseconds   3… what it tells
-- Reply  each thing that another process tells; at most 1000 of all processes
--@include clock

local now, name = unix_ms(), ARGV[1] .. ' '
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
for i = 3, #ARGV do
  redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), name .. ARGV[i])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])

local others = {}
for _, told in ipairs(redis.call('ZRANGE', KEYS[1], 0, 999)) do
  if string.sub(told, 1, #name) ~= name then
    others[#others + 1] = string.match(told, ' (.*)')
  end
end
return others
