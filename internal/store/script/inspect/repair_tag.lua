-- repair_tag makes the record of a hashtag and the claim of a name agree. It restores a missing record from the claim, and a
-- missing claim from the record. If another hashtag holds the name, it deletes the hashtag and its timeline.
--
-- KEYS   1 claim of the name   2 record of the hashtag   3 its posts
-- ARGV   1 hashtag, '0' if the claim is malformed   2 name in its record when it was inspected, '' if it had none
--        3 '1' if that is a spelling of the name, else ''   4 prefix of the keys of hashtags
-- Reply  1
--@include idle

local holder, spelling = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (.+)$')
local name = redis.call('HGET', KEYS[2], 'name') or ''
if name ~= ARGV[2] then
  return 1 -- it has changed meanwhile
end
if not holder or ARGV[1] == '0' then
  redis.call('DEL', KEYS[1])
  holder = nil
end
if name == '' then
  if holder == ARGV[1] then
    redis.call('HSET', KEYS[2], 'state', 'active', 'name', spelling, 'used', today())
  else
    redis.call('UNLINK', KEYS[2], KEYS[3])
  end
elseif ARGV[3] == '' then
  if holder == ARGV[1] then
    redis.call('DEL', KEYS[1])
  end
elseif holder and holder ~= ARGV[1] and redis.call('EXISTS', ARGV[4] .. holder) == 1 then
  redis.call('UNLINK', KEYS[2], KEYS[3])
elseif holder ~= ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. name)
end
return 1
