-- list_partitions returns the partitions with lists that contain an author, separated by spaces. The key is that of the
-- follower partitions of the author.
local function list_partitions(key)
  local found = {}
  for _, field in ipairs(redis.call('HKEYS', key)) do
    found[#found + 1] = string.match(field, '^l(%d+)$')
  end
  return table.concat(found, ' ')
end
