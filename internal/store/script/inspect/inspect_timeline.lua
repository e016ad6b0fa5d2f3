-- inspect_timeline reads the stored list of a timeline, its sources, its marker, and the posts that its
-- next read will pull, atomically.
--
-- KEYS   1 list   2 sources   3 hash of the epoch   4 large authors   5 hash of the owner
-- ARGV   1 reader if it is a home, else ''   2 tag of the partition and ':'   3 home cap
--        4 field of the marker, or ''
-- Reply  { state, epoch, entries, { source, score, … }, posts to pull, the post below which some
--        posts are no longer stored for pulling, or '', marker or '', the greatest id that the list lost
--        below a late entry, or '' }
--@include ids

local to_pull, gap = {}, ''
if ARGV[1] ~= '' then
  for _, author in ipairs(redis.call('SMEMBERS', KEYS[4])) do
    if redis.call('ZSCORE', KEYS[2], author) then
      local watermark = redis.call('HGET', ARGV[2] .. 'pull_watermarks:' .. ARGV[1], author) or '0'
      local pulled = redis.call('LRANGE', ARGV[2] .. 'pulled:' .. author, 0, -1)
      local oldest = pulled[#pulled]
      for _, post in ipairs(pulled) do
        if not below(watermark, post) then
          break
        end
        to_pull[#to_pull + 1] = post
      end
      if #pulled >= tonumber(ARGV[3]) and below(watermark, oldest) and below(gap, oldest) then
        gap = oldest
      end
    end
  end
end
local owner = redis.call('HMGET', KEYS[3], 'state', 'epoch', 'displaced')
return {
  owner[1] or '',
  owner[2] or '0',
  redis.call('LRANGE', KEYS[1], 0, -1),
  redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES'),
  to_pull,
  gap,
  ARGV[4] ~= '' and redis.call('HGET', KEYS[5], ARGV[4]) or '',
  owner[3] or '',
}
