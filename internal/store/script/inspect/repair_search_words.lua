-- repair_search_words stores the words of a user's display name, and indexes those of an active account. Nothing
-- changes if the name is another one by now.
--
-- KEYS   1 user   2 search words
-- ARGV   1 user   2 display name   3 its words, separated by spaces
-- Reply  'ok'
--@include words
local account = redis.call('HMGET', KEYS[1], 'state', 'display')
if account[2] ~= ARGV[2] then
  return 'ok'
end
unindex_user(KEYS[1], KEYS[2], ARGV[1])
redis.call('HSET', KEYS[1], 'words', ARGV[3])
if account[1] == 'active' then
  index_user(KEYS[1], KEYS[2], ARGV[1])
end
return 'ok'
