-- purge takes the posts of an author whom the owner does not follow out of a timeline's
-- list. With the edge there again it does nothing.
--
-- KEYS   1 list   2 following   3 hash of the generation   4 online   5 online nodes
-- ARGV   1 name of the timeline   2 author   3 PUBLISH or SPUBLISH   4 channel prefix   5… posts of the author
-- Reply  { posts removed, '1' when older entries had been trimmed from the list }
--@include list
--@include publish

if redis.call('ZSCORE', KEYS[2], ARGV[2]) then
  return { 0, '0' }
end
local unwanted = {}
for i = 5, #ARGV do
  unwanted[ARGV[i]] = true
end
local entries = redis.call('LRANGE', KEYS[1], 0, -1)
local last = entries[#entries]
local kept = {}
for _, post in ipairs(entries) do
  if not unwanted[post] then
    kept[#kept + 1] = post
  end
end
local removed = #entries - #kept
if removed == 0 then
  return { 0, '0' }
end
local trimmed = last ~= '0' and last ~= 'b'
if trimmed then
  -- Until it is refilled, at the latest by the next read, the list counts as being built.
  kept[#kept + 1] = 'b'
end
replace(KEYS[1], kept)
redis.call('HINCRBY', KEYS[3], 'home_gen', 1)
publish(KEYS[5], ARGV[3], ARGV[4], '!', watched(KEYS[4], { ARGV[1] }))
return { removed, trimmed and '1' or '0' }
