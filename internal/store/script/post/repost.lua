-- repost stores a repost of a post, adds it to the profile and the home of the reposter, and queues its fan-out. If the user has a
-- repost of the post already, it returns that one and changes nothing.
--
-- KEYS   1 account   2 profile   3 home   4 outbox   5 clock   6 reposts of the user   7 online   8 online nodes
--        9 trimmed posts   10 following   11 users whose reposts the reposter has hidden
--        12 follower partitions
-- ARGV   1 reposter   2 post   3 bucket of the reposter   4 profile cap   5 home cap   6 slack   7 post key prefix
--        8 outbox limit   9 PUBLISH or SPUBLISH   10 channel prefix   11 trace, '' if it is not recorded
--        12 origin of the entry: see lib/enqueue.lua
-- Reply  { 'ok', repost, partitions to which the repost goes (author_partitions), or '' if the repost is not new, number of followers },
--        { 'no_user' } if there is no such user, or { 'full' }
--@include clock
--@include ids
--@include list
--@include authorpartitions
--@include profile
--@include publish
--@include enqueue
--@include rows
--@include members
--@include visibility
--@include repeats

local user, post = ARGV[1], ARGV[2]
if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return { 'no_user' }
end
local earlier = redis.call('HGET', KEYS[6], post)
if earlier then
  return { 'ok', earlier, '', '0' }
end
if redis.call('XLEN', KEYS[4]) >= tonumber(ARGV[8]) then
  return { 'full' }
end

local repost = id_of(tick(KEYS[5]), tonumber(ARGV[3]))
local element = element_of(repost, user, nil, post)
redis.call('HSET', ARGV[7] .. repost, 'author', user, 'reposted', post)
redis.call('HSET', KEYS[6], post, repost)

local home, profile, with_replies = 'h' .. user, 'u' .. user, 'r' .. user
local profile_head = head(KEYS[2])
local before = { [home] = head(KEYS[3]), [profile] = profile_head, [with_replies] = profile_head }
local slack = tonumber(ARGV[6])
add_to_profile(KEYS[1], KEYS[2], KEYS[9], element, tonumber(ARGV[4]), slack)
push(KEYS[3], element, tonumber(ARGV[5]), slack, KEYS[1])
local entry = { 'kind', 'post', 'author', user, 'post', repost, 'reposted', post }
if ARGV[11] ~= '' then
  entry[#entry + 1], entry[#entry + 2] = 'trace', ARGV[11]
end
enqueue(KEYS[4], entry, ARGV[12])

local list_of = { [home] = KEYS[3], [profile] = KEYS[2], [with_replies] = KEYS[2] }
local is_source = new_members(KEYS[10])
local names, heads, changed = {}, {}, {}
for _, name in ipairs(watched(KEYS[7], { home, profile, with_replies })) do
  local is_hidden = new_hider(string.sub(name, 1, 1), user, is_source, KEYS[11])
  if may_repeat(list_of[name], element, is_hidden) then
    changed[#changed + 1] = name -- the feed reads whether it shows the repost
  else
    names[#names + 1], heads[#heads + 1] = name, before[name]
  end
end
publish(KEYS[8], ARGV[9], ARGV[10], '+ ' .. element, names, heads)
publish(KEYS[8], ARGV[9], ARGV[10], '!', changed)
return { 'ok', repost, author_partitions(KEYS[12]), redis.call('HGET', KEYS[1], 'followers') or '0' }
