-- stale_search_words inspects a part of the people search: which entries are not a word of the names of an active user.
--
-- KEYS   1 search words
-- ARGV   1 user key prefix   2 cursor of the part, 0 at the beginning   3 entries to read, about
-- Reply  { cursor of the next part, 0 at the end, stale entry, … }
--@include words

local scanned = redis.call('ZSCAN', KEYS[1], ARGV[2], 'COUNT', ARGV[3])
local reply = { scanned[1] }
for i = 1, #scanned[2], 2 do
  local entry = scanned[2][i]
  local word, user = string.match(entry, '^(%S+) (%d+)$')
  if not (user and is_word_of_active(ARGV[1] .. user, word)) then
    reply[#reply + 1] = entry
  end
end
return reply
