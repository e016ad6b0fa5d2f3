-- count_followers counts the followers of authors in this partition, with a version.
--
-- KEYS   1 clock   2… followers
-- Reply  { version, followers of the first author, … }
--@include clock
local reply = { string.format('%.0f', tick(KEYS[1])) }
for i = 2, #KEYS do
  reply[i] = redis.call('ZCARD', KEYS[i])
end
return reply
