-- half_edges goes over one direction of edges and finds those whose other direction is
-- missing or differs.
--
-- KEYS   1 set of the one direction
-- ARGV   1 whose set it is   2 and 3 what stands before and after an id in the keys of the
--        other direction   4 score to start above, '' at first   5 edges a call
-- Reply  { score to go on above, or '' at the end, id, score, other score or '', … }
local found = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[4] == '' and '-inf' or '(' .. ARGV[4], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[5])
local reply = { #found == 2 * tonumber(ARGV[5]) and found[#found] or '' }
for i = 1, #found, 2 do
  local other = redis.call('ZSCORE', ARGV[2] .. found[i] .. ARGV[3], ARGV[1])
  if other ~= found[i + 1] then
    reply[#reply + 1] = found[i]
    reply[#reply + 1] = found[i + 1]
    reply[#reply + 1] = other or ''
  end
end
return reply
