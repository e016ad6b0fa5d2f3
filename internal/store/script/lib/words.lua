-- Users are found by the words of their usernames and display names. The index of a partition, a sorted set, holds
-- each word of its active users, with a space and the id of the user behind it. The account stores the words of the
-- display name, so that the entries can be found again when it changes.

-- name_words returns the words of an account.
local function name_words(account)
  local found = redis.call('HMGET', account, 'name', 'words')
  local words = {}
  for word in string.gmatch(string.lower(found[1] or ''), '[^_]+') do
    words[#words + 1] = word
  end
  for word in string.gmatch(found[2] or '', '%S+') do
    words[#words + 1] = word
  end
  return words
end

-- index_user adds the words of an account to the index.
local function index_user(account, index, user)
  for _, word in ipairs(name_words(account)) do
    redis.call('ZADD', index, 0, word .. ' ' .. user)
  end
end

-- unindex_user removes the words of an account from the index.
local function unindex_user(account, index, user)
  for _, word in ipairs(name_words(account)) do
    redis.call('ZREM', index, word .. ' ' .. user)
  end
end

-- is_word_of_active reports whether a word is one of the words of an active account.
local function is_word_of_active(account, word)
  if redis.call('HGET', account, 'state') ~= 'active' then
    return false
  end
  for _, own in ipairs(name_words(account)) do
    if own == word then
      return true
    end
  end
  return false
end
