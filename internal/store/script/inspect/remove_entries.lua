-- remove_entries removes posts from a timeline that cannot be rebuilt: all entries of a post, or all
-- but the one that arrived first.
--
-- KEYS   1 list   2 online   3 online nodes   4 hash of the owner
-- ARGV   1 name of the timeline   2 PUBLISH or SPUBLISH   3 channel prefix   4 field of the marker
--        5… post, number of its entries to keep: 0 or 1, …
-- Reply  entries removed
--@include ids
--@include list
--@include publish
--@include marker

local gone = {}
for i = 5, #ARGV, 2 do
  gone[ARGV[i]] = ARGV[i + 1] == '0'
end
keep_marker(KEYS[4], ARGV[4], redis.call('LRANGE', KEYS[1], 0, -1), gone)
local removed = 0
for i = 5, #ARGV, 2 do
  local surplus = #redis.call('LPOS', KEYS[1], ARGV[i], 'COUNT', 0) - tonumber(ARGV[i + 1])
  if surplus > 0 then
    removed = removed + redis.call('LREM', KEYS[1], surplus, ARGV[i])
  end
end
if removed > 0 then
  publish(KEYS[3], ARGV[2], ARGV[3], '!', watched(KEYS[2], { ARGV[1] }))
end
return removed
