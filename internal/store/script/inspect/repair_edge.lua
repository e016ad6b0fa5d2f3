-- repair_edge makes both directions of an edge say the same: the one that is missing is
-- restored, with the time of the other, or both are removed where an end is gone.
--
-- KEYS   1 user, or hash of the list of users   2 sources of the timeline
--        3 audience of the author in this partition   4 clock
-- ARGV   1 owner of the timeline   2 author   3 '1' when there is such an author, else '0'
--        4 'h' when the edges are counted, else 'l'
-- Reply  { 'restored', 'removed' or 'same', version, edges of the author here }
--@include clock

local source, audience = redis.call('ZSCORE', KEYS[2], ARGV[2]), redis.call('ZSCORE', KEYS[3], ARGV[1])
local state = redis.call('HGET', KEYS[1], 'state')
local done = 'same'
if source or audience then
  if ARGV[3] ~= '1' or state ~= 'active' then
    redis.call('ZREM', KEYS[2], ARGV[2])
    redis.call('ZREM', KEYS[3], ARGV[1])
    done = 'removed'
  elseif source ~= audience then
    redis.call('ZADD', KEYS[2], source or audience, ARGV[2])
    redis.call('ZADD', KEYS[3], source or audience, ARGV[1])
    done = 'restored'
  end
end
if done ~= 'same' and state and ARGV[4] == 'h' then
  redis.call('HSET', KEYS[1], 'following', redis.call('ZCARD', KEYS[2]))
end
return { done, string.format('%.0f', tick(KEYS[4])), redis.call('ZCARD', KEYS[3]) }
