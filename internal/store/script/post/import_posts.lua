-- import_posts stores past posts of one author, oldest first. Each post gets its own time, or the
-- first instant after the author's newest post. The account stores how many posts of each source
-- were imported, so a repeat adds only the missing ones. The author's home is rebuilt; a repair entry
-- merges the posts into the homes of followers.
--
-- KEYS   1 account   2 profile   3 home   4 outbox   5 clock   6 online   7 online nodes
--        8 trimmed posts   9 follower partitions
-- ARGV   1 author   2 source   3 number of posts of the source before these   4 bucket
--        5 profile cap   6 slack   7 post key prefix   8 outbox limit   9 PUBLISH or SPUBLISH
--        10 channel prefix   11… microseconds since 1970, text
-- Reply  { 'ok', posts added }, { 'no_user' } if there is no such author, { 'full' }, or
--        { 'early' } if posts that come before these are missing
--@include clock
--@include ids
--@include publish
--@include restartbuild
--@include profile

if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return { 'no_user' }
end
local source = 'imported:' .. ARGV[2]
local have = tonumber(redis.call('HGET', KEYS[1], source) or '0') - tonumber(ARGV[3])
if have < 0 then
  return { 'early' }
end
local count = (#ARGV - 10) / 2
if have >= count then
  return { 'ok', 0 }
end
if redis.call('XLEN', KEYS[4]) >= tonumber(ARGV[8]) then
  return { 'full' }
end

local now, after = tick(KEYS[5]), 0
local newest = redis.call('LINDEX', KEYS[2], 0)
if newest then
  after = instant_of(newest)
end
local post
for i = 11 + 2 * have, #ARGV, 2 do
  local instant = math.max(math.min(tonumber(ARGV[i]), now), after + 1)
  repeat
    post = id_of(instant, tonumber(ARGV[4]))
    after = instant
    instant = instant + 1
  until redis.call('EXISTS', ARGV[7] .. post) == 0
  redis.call('HSET', ARGV[7] .. post, 'author', ARGV[1], 'text', ARGV[i + 1])
  add_to_profile(KEYS[1], KEYS[2], KEYS[8], post, tonumber(ARGV[5]), tonumber(ARGV[6]))
end
if after > now then
  redis.call('SET', KEYS[5], string.format('%.0f', after))
end
redis.call('HINCRBY', KEYS[1], 'posts', count - have)
redis.call('HINCRBY', KEYS[1], source, count - have)
if redis.call('EXISTS', KEYS[3]) == 1 then
  restart_build(KEYS[3], KEYS[1], KEYS[6], KEYS[7], ARGV[9], ARGV[10], 'h' .. ARGV[1])
end
if redis.call('EXISTS', KEYS[9]) == 1 then
  redis.call('XADD', KEYS[4], '*', 'kind', 'repair', 'author', ARGV[1], 'post', post)
end
return { 'ok', count - have }
