-- A post id consists of milliseconds since 1970, three digits of the bucket of its author, and three
-- digits of microseconds. It exceeds the integers that a Lua double holds, so it stays a decimal string
-- without leading zeros.

-- below reports whether post id a is less than b.
local function below(a, b)
  if #a ~= #b then
    return #a < #b
  end
  return a < b
end

-- id_of returns the id of the post that an author of a bucket created at an instant in microseconds.
local function id_of(instant, bucket)
  return string.format('%.0f%03d%03d', math.floor(instant / 1000), bucket, instant % 1000)
end

-- instant_of returns the creation time of a post in microseconds.
local function instant_of(post)
  return tonumber(string.sub(post, 1, -7)) * 1000 + tonumber(string.sub(post, -3))
end

-- bucket_of returns the bucket of the author of a post. Modulo the number of partitions it is the number
-- of the partition that created the post.
local function bucket_of(post)
  return tonumber(string.sub(post, -6, -4))
end
