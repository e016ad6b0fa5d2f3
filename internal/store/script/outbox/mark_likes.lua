-- mark_likes delivers the deletion of a post to a partition that may hold likers of it: the worker of that partition then
-- removes the likes.
--
-- KEYS   1 progress   2 changed likes
-- ARGV   1 entry   2 field of the progress   3 post
-- Reply  { 'done', 0 }
--@include clock
--@include likes
--@include progress

if entry_progress(KEYS[1], ARGV[1], ARGV[2]) ~= 'done' then
  count_again(KEYS[2], ARGV[3])
  redis.call('HSET', KEYS[1], ARGV[2], 'done')
end
return { 'done', 0 }
