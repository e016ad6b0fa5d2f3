-- create_post stores a post, adds it to the profile and the home of its author, and queues its
-- fan-out. A repeat with the same idempotency key returns the first post.
--
-- KEYS   1 account   2 profile   3 home   4 outbox   5 clock   6 idempotency
--        7 online   8 online nodes   9 changes   10 trimmed posts   11 follower partitions
-- ARGV   1 author   2 text   3 digest of the text   4 bucket   5 profile cap
--        6 home cap   7 slack   8 post key prefix   9 TTL of the idempotency key in seconds
--        10 outbox limit   11 PUBLISH or SPUBLISH   12 channel prefix
--        13 mentioned users, separated by spaces   14 trace, '' if it is not recorded
--        15 for a reply the posts above it in its thread, separated by spaces, the post answered last, else ''
--        16 author of the post answered if another user, else ''   17 for a quote the post quoted, else ''
--        18 'unanswerable' or 'unquotable' if the post answered or quoted does not exist, else ''
--        19 hashtags, separated by spaces   20 origin of the entry: see lib/enqueue.lua
-- Reply  { 'ok', post, epoch of the home, last change,
--        filter epoch, partitions to which the post goes (author_partitions), or '' if the post is not new, number of followers },
--        { 'no_user' } if there is no such author, { 'conflict' } if the key was used with another text, { argument 18 } if there is one, or { 'full' }
--@include changes
--@include clock
--@include ids
--@include list
--@include authorpartitions
--@include profile
--@include publish
--@include enqueue

local author = ARGV[1]

local function result(post, partitions)
  local account = redis.call('HMGET', KEYS[1], 'epoch', 'filter_epoch', 'followers')
  return { 'ok', post, account[1] or '0', last_change(KEYS[9]), account[2] or '0', partitions, account[3] or '0' }
end

local earlier = redis.call('GET', KEYS[6])
if earlier then
  local post, digest = string.match(earlier, '^(%d+) (%x+)$')
  if digest ~= ARGV[3] then
    return { 'conflict' }
  end
  return result(post, '')
end
if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return { 'no_user' }
end
if ARGV[18] ~= '' then
  return { ARGV[18] }
end
if redis.call('XLEN', KEYS[4]) >= tonumber(ARGV[10]) then
  return { 'full' }
end

local instant = tick(KEYS[5])
local post = id_of(instant, tonumber(ARGV[4]))
local answered = ARGV[16] ~= '' and ARGV[16] or nil
local element = element_of(post, author, answered)
local record = { 'author', author, 'text', ARGV[2] }
local entry = { 'kind', 'post', 'author', author, 'post', post }
local function add(fields, name, value)
  if value and value ~= '' then
    fields[#fields + 1], fields[#fields + 2] = name, value
  end
end
for _, fields in ipairs({ record, entry }) do
  add(fields, 'mentions', ARGV[13])
  add(fields, 'tags', ARGV[19])
  add(fields, 'answered', answered)
  add(fields, 'quoted', ARGV[17])
end
add(record, 'thread', ARGV[15])
add(entry, 'reply_to', string.match(ARGV[15], '%d+$'))
add(entry, 'trace', ARGV[14])
redis.call('HSET', ARGV[8] .. post, unpack(record))
redis.call('SET', KEYS[6], post .. ' ' .. ARGV[3], 'EX', ARGV[9])
redis.call('HINCRBY', KEYS[1], 'posts', 1)

local home, profile, with_replies = 'h' .. author, 'u' .. author, 'r' .. author
local profile_head = head(KEYS[2])
local before = { [home] = head(KEYS[3]), [profile] = profile_head, [with_replies] = profile_head }
local slack = tonumber(ARGV[7])
add_to_profile(KEYS[1], KEYS[2], KEYS[10], element, tonumber(ARGV[5]), slack)
push(KEYS[3], element, tonumber(ARGV[6]), slack, KEYS[1])
enqueue(KEYS[4], entry, ARGV[20])

-- announce publishes the post to the watched ones among some timelines.
local function announce(sign, timelines)
  local names, heads = watched(KEYS[7], timelines), {}
  for i, name in ipairs(names) do
    heads[i] = before[name]
  end
  publish(KEYS[8], ARGV[11], ARGV[12], sign .. element, names, heads)
end
announce('+ ', answered and { home, with_replies } or { home, profile, with_replies })
if answered then
  announce('~ ', { profile })
end
return result(post, author_partitions(KEYS[11]))
