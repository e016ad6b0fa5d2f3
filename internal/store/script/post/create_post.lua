-- create_post stores a post, adds it to the profile and the home of its author, and queues its
-- fan-out. A repeat with the same idempotency key returns the first post.
--
-- KEYS   1 account   2 profile   3 home   4 outbox   5 clock   6 idempotency
--        7 online   8 online nodes   9 changes   10 trimmed posts
-- ARGV   1 author   2 text   3 digest of the text   4 bucket   5 profile cap
--        6 home cap   7 slack   8 post key prefix   9 TTL of the idempotency key in seconds
--        10 outbox limit   11 PUBLISH or SPUBLISH   12 channel prefix
--        13 mentioned users, separated by spaces   14 trace, '' if it is not recorded
-- Reply  { 'ok', post, epoch of the home, last change,
--        filter epoch }, { 'no_user' } if there is no such author,
--        { 'conflict' } if the key was used with another text, or { 'full' }
--@include clock
--@include ids
--@include list
--@include profile
--@include publish

local author = ARGV[1]

local function result(post)
  local last = redis.call('XREVRANGE', KEYS[9], '+', '-', 'COUNT', 1)
  local epochs = redis.call('HMGET', KEYS[1], 'epoch', 'filter_epoch')
  return { 'ok', post, epochs[1] or '0', last[1] and last[1][1] or '0-0', epochs[2] or '0' }
end

local earlier = redis.call('GET', KEYS[6])
if earlier then
  local post, digest = string.match(earlier, '^(%d+) (%x+)$')
  if digest ~= ARGV[3] then
    return { 'conflict' }
  end
  return result(post)
end
if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return { 'no_user' }
end
if redis.call('XLEN', KEYS[4]) >= tonumber(ARGV[10]) then
  return { 'full' }
end

local instant = tick(KEYS[5])
local post = id_of(instant, tonumber(ARGV[4]))
local mentions = ARGV[13] ~= '' and { 'mentions', ARGV[13] } or {}
redis.call('HSET', ARGV[8] .. post, 'author', author, 'text', ARGV[2], unpack(mentions))
redis.call('SET', KEYS[6], post .. ' ' .. ARGV[3], 'EX', ARGV[9])
redis.call('HINCRBY', KEYS[1], 'posts', 1)

local home, profile = 'h' .. author, 'u' .. author
local before = { [home] = head(KEYS[3]), [profile] = head(KEYS[2]) }
local slack = tonumber(ARGV[7])
add_to_profile(KEYS[1], KEYS[2], KEYS[10], post, tonumber(ARGV[5]), slack)
push(KEYS[3], post, tonumber(ARGV[6]), slack)
local entry = { 'kind', 'post', 'author', author, 'post', post, unpack(mentions) }
if ARGV[14] ~= '' then
  entry[#entry + 1], entry[#entry + 2] = 'trace', ARGV[14]
end
redis.call('XADD', KEYS[4], '*', unpack(entry))

local names, heads = watched(KEYS[7], { home, profile }), {}
for i, name in ipairs(names) do
  heads[i] = before[name]
end
publish(KEYS[8], ARGV[11], ARGV[12], '+ ' .. post, names, heads)
return result(post)
