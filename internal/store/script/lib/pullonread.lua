-- pull_on_read pulls new posts of large authors into a home that is about to be read.
--
-- ARGV   from index at: reader, '' for other timelines; tag of the partition and ':'; cap; slack;
--        PUBLISH or SPUBLISH; channel prefix; number of partitions
local function pull_on_read(large_authors, nodes, argv, at)
  local reader = argv[at]
  if reader == '' or redis.call('EXISTS', large_authors) == 0 then
    return
  end
  pull_posts(argv[at + 1], tonumber(argv[at + 6]), reader, redis.call('SMEMBERS', large_authors), tonumber(argv[at + 2]), tonumber(argv[at + 3]),
    publish_to_home(nodes, argv[at + 4], argv[at + 5], argv[at + 1], reader))
end
