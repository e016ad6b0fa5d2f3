-- A post id consists of milliseconds since the time origin, three digits of the partition that created
-- it, and three digits of microseconds. It exceeds the integers that a Lua double holds, so it stays a
-- decimal string without leading zeros.

-- below reports whether post id a is less than b.
local function below(a, b)
  if #a ~= #b then
    return #a < #b
  end
  return a < b
end

-- id_of returns the id of the post that a partition created at an instant in microseconds.
local function id_of(instant, partition)
  return string.format('%.0f%03d%03d', math.floor(instant / 1000), partition, instant % 1000)
end

-- instant_of returns the creation time of a post in microseconds.
local function instant_of(post)
  return tonumber(string.sub(post, 1, -7)) * 1000 + tonumber(string.sub(post, -3))
end

-- origin_of returns the three digits of the partition that created a post.
local function origin_of(post)
  return string.sub(post, -6, -4)
end
