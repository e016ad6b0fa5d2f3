-- import_public_timeline inserts imported posts into the public timeline by id.
--
-- KEYS   1 public timeline
-- ARGV   1 cap   2… posts, newest first
-- Reply  posts added
--@include ids
--@include list
--@include merge

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
for i = 2, #ARGV do
  if not held[ARGV[i]] and below(floor, ARGV[i]) then
    posts[#posts + 1] = ARGV[i]
  end
end
if #posts > 0 then
  rewrite(KEYS[1], merge_posts(entries, posts, {}), ends, tonumber(ARGV[1]))
end
return #posts
