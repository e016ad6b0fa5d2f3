-- open_database stores the description of a new database, and returns the stored description.
--
-- KEYS   1 meta
-- ARGV   1 schema version   2 partitions
-- Reply  { schema version, partitions }
redis.call('HSETNX', KEYS[1], 'schema', ARGV[1])
redis.call('HSETNX', KEYS[1], 'partitions', ARGV[2])
return redis.call('HMGET', KEYS[1], 'schema', 'partitions')
