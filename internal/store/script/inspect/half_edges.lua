-- half_edges scans one direction of edges and finds those whose other direction is missing or has
-- another score.
--
-- KEYS   1 set of the scanned direction
-- ARGV   1 owner of the set   2 and 3 prefix and suffix of the keys of the other direction
--        4 score to start after, '' at first   5 edges per call
-- Reply  { score to continue after, or '' at the end, ids whose directions agree, separated by spaces,
--        id, score, other score or '', … }
local found = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[4] == '' and '-inf' or '(' .. ARGV[4], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[5])
local reply, agree = { #found == 2 * tonumber(ARGV[5]) and found[#found] or '', '' }, {}
for i = 1, #found, 2 do
  local other = redis.call('ZSCORE', ARGV[2] .. found[i] .. ARGV[3], ARGV[1])
  if other ~= found[i + 1] then
    reply[#reply + 1] = found[i]
    reply[#reply + 1] = found[i + 1]
    reply[#reply + 1] = other or ''
  else
    agree[#agree + 1] = found[i]
  end
end
reply[2] = table.concat(agree, ' ')
return reply
