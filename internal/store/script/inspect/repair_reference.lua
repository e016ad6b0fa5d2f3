-- repair_reference adds a reply or quote to those of a post, or removes it, as its record demands.
--
-- KEYS   1 replies or quotes   2 the post that they refer to
-- ARGV   as of outbox/update_references.lua from the third one
-- Reply  1
--@include ids
--@include replyset

redis.call('ZREM', KEYS[1], ARGV[1])
if ARGV[2] ~= '' then
  add_reply(KEYS[1], KEYS[2], ARGV[1], ARGV[2] == '1', tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5])
end
return 1
