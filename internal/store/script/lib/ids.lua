-- A post id is milliseconds since the epoch, then three digits of the partition that made
-- it, then three of microseconds. It exceeds what Lua's doubles hold, so it stays a decimal
-- string without leading zeros.

-- below compares post ids.
local function below(a, b)
  if #a ~= #b then
    return #a < #b
  end
  return a < b
end

-- id_of returns the id of the post that a partition made at an instant in microseconds.
local function id_of(instant, partition)
  return string.format('%.0f%03d%03d', math.floor(instant / 1000), partition, instant % 1000)
end

-- instant_of returns when a post was made, in microseconds.
local function instant_of(post)
  return tonumber(string.sub(post, 1, -7)) * 1000 + tonumber(string.sub(post, -3))
end

-- origin_of returns the digits that name the partition that made a post.
local function origin_of(post)
  return string.sub(post, -6, -4)
end
