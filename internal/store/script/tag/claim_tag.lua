-- claim_tag returns the hashtag with a name, which it creates if there is none, and records that it is used today. A repeat has no
-- effect.
--
-- KEYS   1 claim of the name   2 next user
-- ARGV   1 bucket   2 name as spelled   3 prefix of the keys of hashtags
-- Reply  { the id of the hashtag, 1 if it is new, else 0 }
--@include clock
--@include idle

local id, name = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (.+)$')
local new = 0
if not id then
  local sequence = math.max(tonumber(redis.call('GET', KEYS[2]) or '0') + 1, unix_ms())
  redis.call('SET', KEYS[2], string.format('%.0f', sequence))
  id, name, new = string.format('%.0f', sequence * 1024 + tonumber(ARGV[1])), ARGV[2], 1
  redis.call('SET', KEYS[1], id .. ' ' .. name)
end
local record, day = ARGV[3] .. id, today()
if tonumber(redis.call('HGET', record, 'used')) ~= day then
  redis.call('HSET', record, 'state', 'active', 'name', name, 'used', day)
end
return { id, new }
