-- update_references delivers a post to the replies, quotes or reposts of the post that it refers to, or removes a deleted one.
-- These are sets, so a repeat has no effect: see lib/replyset.lua.
--
-- KEYS   1 progress   2 replies, quotes or reposts   3 the post that they refer to
-- ARGV   1 entry   2 field of the progress   3 reply, quote or repost   4 '1' for a reply by the author of the post, '0' for
--        another one, '' to remove it   5 cap   6 replies of the author that come first, at most
--        7 field of the post that records that some were trimmed
-- Reply  { 'done', posts added }
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
  added = add_reply(KEYS[2], KEYS[3], ARGV[3], ARGV[4] == '1', tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7])
end
redis.call('HSET', KEYS[1], ARGV[2], 'done')
return { 'done', added }
