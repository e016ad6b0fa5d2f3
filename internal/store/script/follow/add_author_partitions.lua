-- add_author_partitions notes that partitions may hold followers of an author, or lists with the
-- author on them. It stays noted.
--
-- KEYS   1 author   2 reach
-- ARGV   1… partition, or 'l' and the partition
-- Reply  1, or 0 without such an author
if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return 0
end
for _, partition in ipairs(ARGV) do
  redis.call('HSETNX', KEYS[2], partition, '0:0')
end
return 1
