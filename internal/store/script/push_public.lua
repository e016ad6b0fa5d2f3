-- push_public puts a post on the public timeline, once for an outbox entry. It looks into
-- the list first: an entry that had been given up and is tried again has another id.
--
-- KEYS   1 progress   2 public list   3 online   4 online nodes
-- ARGV   1 entry   2 post   3 cap   4 slack   5 PUBLISH or SPUBLISH   6 channel prefix
-- Reply  { 'done', lists pushed to }
--@include progress
--@include list
--@include publish

local entry, post = ARGV[1], ARGV[2]
local field = entry .. ':public'
if position_of(KEYS[1], entry, field) == 'done' then
  return { 'done', 0 }
end
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('RPUSH', KEYS[2], '0')
end
redis.call('HSET', KEYS[1], field, 'done')
if redis.call('LPOS', KEYS[2], post) then
  return { 'done', 0 }
end
local before = head(KEYS[2])
push(KEYS[2], post, tonumber(ARGV[3]), tonumber(ARGV[4]))
publish(KEYS[4], ARGV[5], ARGV[6], '+ ' .. post, watched(KEYS[3], { 'p' }), { before })
return { 'done', 1 }
