-- due_likes counts the likers of the next posts that are due, and assigns a version to the counts. A post that is due more than a
-- period from now was added while the clock was ahead, and is due too.
--
-- KEYS   1 changed likes   2 clock
-- ARGV   1 maximum number of posts   2 prefix of the keys of likers   3 period in milliseconds
-- Reply  { version, post, time from which it is due, likers here, … }
--@include clock

local now, most = unix_ms(), tonumber(ARGV[1])
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'WITHSCORES', 'LIMIT', 0, most)
local ahead = redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.0f', now + tonumber(ARGV[3])), '+inf', 'WITHSCORES',
  'LIMIT', 0, most - #due / 2)
for _, field in ipairs(ahead) do
  due[#due + 1] = field
end
if #due == 0 then
  return { '0' }
end
local reply = { string.format('%.0f', tick(KEYS[2])) }
for i = 1, #due, 2 do
  reply[#reply + 1] = due[i]
  reply[#reply + 1] = due[i + 1]
  reply[#reply + 1] = redis.call('ZCARD', ARGV[2] .. due[i])
end
return reply
