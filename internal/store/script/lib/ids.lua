-- A post id consists of milliseconds since 1970, three digits of the bucket of its author, and three
-- digits of microseconds. It exceeds the integers that a Lua double holds, so it stays a decimal string
-- without leading zeros.
--
-- A list holds elements: <post>, <post>:<author>:<answered> for a reply, or <repost>~<reposter>~<post>. They
-- sort by their leading ids, which have the form of a post id. Only an element with a context is longer than
-- an id. No other file takes ids or elements apart.

-- The digits of the longest post id.
local ID_DIGITS = 19

-- Scripts take thousands of elements apart, so these are local. Matches by patterns take longer.
local byte, find, sub = string.byte, string.find, string.sub
local COLON, TILDE, ZERO = byte(':~0', 1, 3)

-- leading returns the leading id of an element.
local function leading(element)
  if #element <= ID_DIGITS then
    return element
  end
  local after = byte(element, ID_DIGITS + 1)
  if after == COLON or after == TILDE then
    return sub(element, 1, ID_DIGITS)
  end
  return sub(element, 1, (find(element, ':', 1, true) or find(element, '~', 1, true)) - 1)
end

-- shown returns the post that an element shows.
local function shown(element)
  if #element <= ID_DIGITS then
    return element
  end
  local after = find(element, ':', 1, true)
  if after then
    return sub(element, 1, after - 1)
  end
  return sub(element, find(element, '~', find(element, '~', 1, true) + 1, true) + 1)
end

-- answered_by returns the author of a reply and the author of the post answered, and nothing for other elements.
local function answered_by(element)
  return string.match(element, '^%d+:(%d+):(%d+)$')
end

-- reposter_of returns the user who reposted the post that an element shows, and nothing for other elements.
local function reposter_of(element)
  return string.match(element, '~(%d+)~')
end

-- element_of returns the element of a post or repost, from the fields of its record.
local function element_of(id, author, answered, reposted)
  if reposted then
    return id .. '~' .. author .. '~' .. reposted
  elseif answered then
    return id .. ':' .. author .. ':' .. answered
  end
  return id
end

-- below reports whether the leading id of element a is less than that of b.
local function below(a, b)
  if #a > ID_DIGITS then
    a = leading(a)
  end
  if #b > ID_DIGITS then
    b = leading(b)
  end
  if #a ~= #b then
    return #a < #b
  end
  return a < b
end

-- id_of returns the id of the post that an author of a bucket created at an instant in microseconds.
local function id_of(instant, bucket)
  return string.format('%.0f%03d%03d', math.floor(instant / 1000), bucket, instant % 1000)
end

-- instant_of returns the creation time of an element's post or repost in microseconds.
local function instant_of(element)
  local id = leading(element)
  return tonumber(string.sub(id, 1, -7)) * 1000 + tonumber(string.sub(id, -3))
end

-- millis_of returns the creation time of a post in milliseconds.
local function millis_of(post)
  return tonumber(string.sub(post, 1, -7))
end

-- bucket_key returns the digits of the bucket in a leading id. Scripts compare thousands of them, and a number takes longer.
local function bucket_key(id)
  return sub(id, -6, -4)
end

-- bucket_of returns the bucket of the author or reposter of an element. Modulo the number of partitions it is
-- the number of the partition that created the post or the repost.
local function bucket_of(element)
  local hundreds, tens, ones = byte(leading(element), -6, -4)
  return 100 * hundreds + 10 * tens + ones - 111 * ZERO
end
