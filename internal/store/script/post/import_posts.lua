-- import_posts stores posts of the past of one author, oldest first, each at its time or, in
-- order that it comes after those that are there, as soon as possible later. How many came
-- from the source is kept with the author, so a repeat adds only what is lacking. The
-- author's home is gathered anew; those of followers get the posts by a repair.
--
-- KEYS   1 user   2 profile   3 home   4 outbox   5 clock   6 online   7 online nodes
--        8 archive   9 reach
-- ARGV   1 author   2 source   3 posts of the source that come before these   4 partition
--        5 profile cap   6 slack   7 post key prefix   8 outbox limit   9 PUBLISH or SPUBLISH
--        10 channel prefix   11… microseconds since the epoch, text
-- Reply  { 'ok', posts added }, { 'no_user' } without such a user, { 'full' }, or
--        { 'early' } when posts that come before these are lacking
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
  put_on_profile(KEYS[1], KEYS[2], KEYS[8], post, tonumber(ARGV[5]), tonumber(ARGV[6]))
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
