-- settle_likes removes posts from the changed likes if their number was stored already and is still right. It delays the others
-- by a period. It does not change a post that is due from another time than before: its deletion may have been announced meanwhile.
--
-- KEYS   1 changed likes
-- ARGV   1 prefix of the keys of likers   2 period in milliseconds
--        3… post, time from which it was due, likers that were counted, or '' if the call had to store their number
-- Reply  posts removed
--@include clock

local removed, later = 0, string.format('%.0f', unix_ms() + tonumber(ARGV[2]))
for i = 3, #ARGV, 3 do
  local post, count = ARGV[i], ARGV[i + 2]
  if redis.call('ZSCORE', KEYS[1], post) == ARGV[i + 1] then
    if count ~= '' and redis.call('ZCARD', ARGV[1] .. post) == tonumber(count) then
      removed = removed + redis.call('ZREM', KEYS[1], post)
    else
      redis.call('ZADD', KEYS[1], later, post)
    end
  end
end
return removed
