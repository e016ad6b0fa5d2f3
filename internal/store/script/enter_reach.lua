-- enter_reach notes that a partition may hold followers of an author, or lists with the
-- author on them. It stays noted.
--
-- KEYS   1 author   2 reach
-- ARGV   1 partition, or 'l' and the partition
-- Reply  1, or 0 without such an author
if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return 0
end
redis.call('HSETNX', KEYS[2], ARGV[1], '0:0')
return 1
