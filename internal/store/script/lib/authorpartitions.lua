-- author_partitions returns the partitions to which the posts of an author go, separated by spaces: those with followers, and with an 'l'
-- before them those with lists that contain the author. The key is that of the follower partitions of the author.
local function author_partitions(key)
  return table.concat(redis.call('HKEYS', key), ' ')
end
