-- repair_reply adds a reply to the replies of a post, or removes it, as its record demands.
--
-- KEYS   1 replies   2 post answered
-- ARGV   1 reply   2 '1' if the author of the post wrote it, '0' if another user did, '' to remove it   3 cap
--        4 replies of the author that come first, at most
-- Reply  1
--@include ids
--@include replyset

redis.call('ZREM', KEYS[1], ARGV[1])
if ARGV[2] ~= '' then
  add_reply(KEYS[1], KEYS[2], ARGV[1], ARGV[2] == '1', tonumber(ARGV[3]), tonumber(ARGV[4]))
end
return 1
