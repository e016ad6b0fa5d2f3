-- insert_posts inserts posts into a timeline that cannot be rebuilt, by id. It skips posts that the list holds or has trimmed.
--
-- KEYS   1 list   2 online   3 online nodes   4 unless it is the public timeline: the user or hashtag that it belongs to
-- ARGV   1 name of the timeline   2 PUBLISH or SPUBLISH   3 channel prefix   4 cap   5… posts, newest first
-- Reply  posts added
--@include ids
--@include list
--@include search
--@include merge
--@include publish

if KEYS[4] and redis.call('HGET', KEYS[4], 'state') ~= 'active' then
  return 0
end
local entries = redis.call('LRANGE', KEYS[1], 0, -1)
local ends = '0'
if #entries > 0 and entries[#entries] ~= '0' then
  ends = ''
elseif #entries > 0 then
  entries[#entries] = nil
end
local held, posts = {}, {}
for _, post in ipairs(entries) do
  held[post] = true
end
local floor = ends == '' and entries[#entries] or '0'
for i = 5, #ARGV do
  if not held[ARGV[i]] and below(floor, ARGV[i]) then
    posts[#posts + 1] = ARGV[i]
  end
end
if #posts > 0 then
  add_posts(KEYS[1], entries, leading_ids(entries), ends, posts, {}, ends, tonumber(ARGV[4]))
  publish(KEYS[3], ARGV[2], ARGV[3], '!', watched(KEYS[2], { ARGV[1] }))
end
return #posts
