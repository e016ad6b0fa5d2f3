-- add_author_partitions records that partitions may hold followers of an author, or lists that
-- contain the author. Records are never removed.
--
-- KEYS   1 account of the author   2 follower partitions
-- ARGV   1… partition, or 'l' and the partition
-- Reply  1, or 0 if there is no such author
if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return 0
end
for _, partition in ipairs(ARGV) do
  redis.call('HSETNX', KEYS[2], partition, '0:0')
end
return 1
