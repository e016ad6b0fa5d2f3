-- inspect_timeline reads the list of a timeline as it is stored, whose posts it gets, and
-- what its next reader will put on it, in one step.
--
-- KEYS   1 list   2 sources   3 hash of the generation   4 large authors
-- ARGV   1 reader whose home it is, else ''   2 tag
-- Reply  { state, generation, entries, source, score, …, posts that are awaited }
--@include ids

local awaited = {}
if ARGV[1] ~= '' then
  for _, author in ipairs(redis.call('SMEMBERS', KEYS[4])) do
    if redis.call('ZSCORE', KEYS[2], author) then
      local mark = redis.call('HGET', ARGV[2] .. 'marks:' .. ARGV[1], author) or '0'
      for _, post in ipairs(redis.call('LRANGE', ARGV[2] .. 'pulled:' .. author, 0, -1)) do
        if not below(mark, post) then
          break
        end
        awaited[#awaited + 1] = post
      end
    end
  end
end
local generation = redis.call('HMGET', KEYS[3], 'state', 'home_gen')
return {
  generation[1] or '',
  generation[2] or '0',
  redis.call('LRANGE', KEYS[1], 0, -1),
  redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES'),
  awaited,
}
