-- repair_search_entry removes an entry of the people search, unless it is a word of the names of an active user.
--
-- KEYS   1 account of the entry's user   2 search words
-- ARGV   1 entry
-- Reply  'ok'
--@include words

if not is_word_of_active(KEYS[1], string.match(ARGV[1], '^(%S+) %d+$')) then
  redis.call('ZREM', KEYS[2], ARGV[1])
end
return 'ok'
