-- pull_on_read pulls new posts of large authors into a home that is about to be read. Call it, and include what it needs, only
-- if there is a reader and the partition has large authors: creating the functions takes longer than the rest of a read.
--
-- ARGV   from index at: reader, '' for other timelines; tag of the partition and ':'; cap; slack;
--        PUBLISH or SPUBLISH; channel prefix; number of partitions
local function pull_on_read(large_authors, nodes, argv, at)
  local reader = argv[at]
  pull_posts(argv[at + 1], tonumber(argv[at + 6]), reader, redis.call('SMEMBERS', large_authors), tonumber(argv[at + 2]), tonumber(argv[at + 3]),
    publish_to_home(nodes, argv[at + 4], argv[at + 5], argv[at + 1], reader))
end
