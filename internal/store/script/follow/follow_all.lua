-- follow_all writes both directions of many edges of one reader. If any edge is new, the reader's
-- home is rebuilt instead of back-filled from each author.
--
-- KEYS   1 account of the reader   2 following   3 clock   4 home   5 online   6 online nodes
--        7… followers of each author in this partition
-- ARGV   1 reader   2 follow limit   3 PUBLISH or SPUBLISH   4 channel prefix   5… authors
-- Reply  { 'ok', new edges }, { 'no_user' } if there is no such reader, or { 'limit' }
--@include clock
--@include publish
--@include restartbuild

if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return { 'no_user' }
end
local new, known = {}, {}
for i, score in ipairs(redis.call('ZMSCORE', KEYS[2], unpack(ARGV, 5))) do
  local author = ARGV[4 + i]
  if not score and not known[author] then
    new[#new + 1] = i
  end
  known[author] = true
end
if #new == 0 then
  return { 'ok', 0 }
end
if redis.call('ZCARD', KEYS[2]) + #new > tonumber(ARGV[2]) then
  return { 'limit' }
end
local instant = tick(KEYS[3])
for n, i in ipairs(new) do
  local score = string.format('%.0f', instant + n - 1)
  redis.call('ZADD', KEYS[2], score, ARGV[4 + i])
  redis.call('ZADD', KEYS[6 + i], score, ARGV[1])
end
redis.call('SET', KEYS[3], string.format('%.0f', instant + #new - 1))
redis.call('HINCRBY', KEYS[1], 'following', #new)
if redis.call('EXISTS', KEYS[4]) == 1 then
  restart_build(KEYS[4], KEYS[1], KEYS[5], KEYS[6], ARGV[3], ARGV[4], 'h' .. ARGV[1])
end
return { 'ok', #new }
