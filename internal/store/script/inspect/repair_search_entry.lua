-- repair_search_entry removes an entry of the people search, unless it is a word of the names of an active user.
--
-- KEYS   1 account of the entry's user   2 search words
-- ARGV   1 entry
-- Reply  'ok'
--@include words
local found = string.match(ARGV[1], '^(%S+) %d+$')
if redis.call('HGET', KEYS[1], 'state') == 'active' then
  for _, word in ipairs(name_words(KEYS[1])) do
    if word == found then
      return 'ok'
    end
  end
end
redis.call('ZREM', KEYS[2], ARGV[1])
return 'ok'
