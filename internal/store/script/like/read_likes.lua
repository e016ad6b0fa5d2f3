-- read_likes reads likes of a user, among the newest ones that are listed.
--
-- KEYS   1 likes of the user
-- ARGV   1 number of likes that are listed   2 '1' to read towards older likes, '0' towards newer ones
--        3 time of the like at which to begin, exclusive; '' for an end of the listed likes   4 count
-- Reply  { post, time of the like, … } in the order of reading
local last = tonumber(ARGV[1]) - 1
local oldest = redis.call('ZRANGE', KEYS[1], last, last, 'REV', 'WITHSCORES')[2] or '-inf'
local from = ARGV[3] ~= '' and '(' .. ARGV[3]
if ARGV[2] == '1' then
  return redis.call('ZRANGE', KEYS[1], from or '+inf', oldest, 'BYSCORE', 'REV', 'LIMIT', 0, ARGV[4], 'WITHSCORES')
end
if not from or oldest ~= '-inf' and tonumber(ARGV[3]) < tonumber(oldest) then
  from = oldest
end
return redis.call('ZRANGE', KEYS[1], from, '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[4], 'WITHSCORES')
