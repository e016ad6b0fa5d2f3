-- update_replies delivers a reply to the replies of the post that it answers, or removes a deleted one. Replies are a
-- set, so a repeat has no effect: see lib/replyset.lua.
--
-- KEYS   1 progress   2 replies   3 post answered
-- ARGV   1 entry   2 field of the progress   3 reply   4 '1' if the author of the post wrote it, '0' if another user did,
--        '' to remove it   5 cap   6 replies of the author that come first, at most
-- Reply  { 'done', replies added }
--@include ids
--@include progress
--@include replyset

if entry_progress(KEYS[1], ARGV[1], ARGV[2]) == 'done' then
  return { 'done', 0 }
end
local added = 0
if ARGV[4] == '' then
  redis.call('ZREM', KEYS[2], ARGV[3])
else
  added = add_reply(KEYS[2], KEYS[3], ARGV[3], ARGV[4] == '1', tonumber(ARGV[5]), tonumber(ARGV[6]))
end
redis.call('HSET', KEYS[1], ARGV[2], 'done')
return { 'done', added }
