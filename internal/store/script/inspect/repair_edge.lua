-- repair_edge makes both directions of an edge agree. It restores a missing direction with the time
-- of the other, or removes both if the author or the reader no longer exists.
--
-- KEYS   1 owner of the timeline: account, or properties of the list   2 sources of the timeline
--        3 followers of the author in this partition, or lists that contain the author   4 clock
-- ARGV   1 owner of the timeline   2 author   3 '1' if the author exists, else '0'
--        4 'h' if the edges are counted, else 'l'
-- Reply  { 'restored', 'removed' or 'same', version, edges of the author here }
--@include clock

local source, back = redis.call('ZSCORE', KEYS[2], ARGV[2]), redis.call('ZSCORE', KEYS[3], ARGV[1])
local state = redis.call('HGET', KEYS[1], 'state')
local done = 'same'
if source or back then
  if ARGV[3] ~= '1' or state ~= 'active' then
    redis.call('ZREM', KEYS[2], ARGV[2])
    redis.call('ZREM', KEYS[3], ARGV[1])
    done = 'removed'
  elseif source ~= back then
    redis.call('ZADD', KEYS[2], source or back, ARGV[2])
    redis.call('ZADD', KEYS[3], source or back, ARGV[1])
    done = 'restored'
  end
end
if done ~= 'same' and state and ARGV[4] == 'h' then
  redis.call('HSET', KEYS[1], 'following', redis.call('ZCARD', KEYS[2]))
end
return { done, string.format('%.0f', tick(KEYS[4])), redis.call('ZCARD', KEYS[3]) }
