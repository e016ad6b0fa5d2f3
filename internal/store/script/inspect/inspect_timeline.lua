-- inspect_timeline reads the list of a timeline as it is stored, whose posts it gets, and
-- what its next reader will put on it, in one step.
--
-- KEYS   1 list   2 sources   3 hash of the generation   4 large authors
-- ARGV   1 reader whose home it is, else ''   2 tag   3 cap
-- Reply  { state, generation, entries, source, score, …, posts that are awaited, the post
--        below which some are not kept for the home any more, or '' }
--@include ids

local awaited, gap = {}, ''
if ARGV[1] ~= '' then
  for _, author in ipairs(redis.call('SMEMBERS', KEYS[4])) do
    if redis.call('ZSCORE', KEYS[2], author) then
      local mark = redis.call('HGET', ARGV[2] .. 'pull_watermarks:' .. ARGV[1], author) or '0'
      local kept = redis.call('LRANGE', ARGV[2] .. 'pulled:' .. author, 0, -1)
      local oldest = kept[#kept]
      for _, post in ipairs(kept) do
        if not below(mark, post) then
          break
        end
        awaited[#awaited + 1] = post
      end
      if #kept >= tonumber(ARGV[3]) and below(mark, oldest) and below(gap, oldest) then
        gap = oldest
      end
    end
  end
end
local generation = redis.call('HMGET', KEYS[3], 'state', 'epoch')
return {
  generation[1] or '',
  generation[2] or '0',
  redis.call('LRANGE', KEYS[1], 0, -1),
  redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES'),
  awaited,
  gap,
}
