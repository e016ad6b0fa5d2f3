-- purge removes the posts of an author whom the owner does not follow from a timeline's
-- list. With the edge there again it does nothing. The generation rises also when the list
-- held none of them: subscribers may have read some below the list, and a building may have
-- gathered some.
--
-- KEYS   1 list   2 following   3 hash of the generation   4 online   5 online nodes
-- ARGV   1 name of the timeline   2 author   3 PUBLISH or SPUBLISH   4 channel prefix   5… posts of the author
-- Reply  { posts removed, '1' when the list has to be built }
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
if removed > 0 and last ~= '0' and last ~= 'b' then
  -- Until it is refilled, at the latest by the next read, the list counts as being built.
  last = 'b'
  kept[#kept + 1] = last
end
if removed > 0 then
  replace(KEYS[1], kept)
end
if redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('HINCRBY', KEYS[3], 'epoch', 1)
end
publish(KEYS[5], ARGV[3], ARGV[4], '!', watched(KEYS[4], { ARGV[1] }))
return { removed, last == 'b' and '1' or '0' }
