-- find_users finds users of a partition by the beginnings of words of their names. It reads the entries of the rarest
-- word, whole words first, and no more than a number of them.
--
-- KEYS   1 search words
-- ARGV   1 user key prefix   2 users to find   3 entries to read   4… words
-- Reply  { number of users whose words were compared, the ids of users who have all words… }
--@include words

local function range(word)
  return '[' .. word, '(' .. word .. '\255'
end

local rarest, fewest
for i = 4, #ARGV do
  local count = redis.call('ZLEXCOUNT', KEYS[1], range(ARGV[i]))
  if not fewest or count < fewest then
    rarest, fewest = ARGV[i], count
  end
end

local compared = 0
local function has_all(user)
  compared = compared + 1
  local text = ' ' .. table.concat(name_words(ARGV[1] .. user), ' ')
  for i = 4, #ARGV do
    if not string.find(text, ' ' .. ARGV[i], 1, true) then
      return false
    end
  end
  return true
end

local found, seen = {}, {}
local from, to = range(rarest)
for _, entry in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], from, to, 'LIMIT', 0, ARGV[3])) do
  local user = string.match(entry, ' (%d+)$')
  if user and not seen[user] and (#ARGV == 4 or has_all(user)) then
    found[#found + 1] = user
    if #found == tonumber(ARGV[2]) then
      break
    end
  end
  seen[user or ''] = true
end
return { compared, unpack(found) }
