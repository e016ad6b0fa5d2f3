-- pull_on_read pulls new posts of large authors into a home that is about to be read.
--
-- KEYS   4 large authors   5 online nodes
-- ARGV   from index at: reader, '' for other timelines; tag of the partition and ':'; cap; slack;
--        PUBLISH or SPUBLISH; channel prefix; number of partitions
local function pull_on_read(keys, argv, at)
  local reader = argv[at]
  if reader == '' or redis.call('EXISTS', keys[4]) == 0 then
    return
  end
  pull_posts(argv[at + 1], tonumber(argv[at + 6]), reader, redis.call('SMEMBERS', keys[4]), tonumber(argv[at + 2]), tonumber(argv[at + 3]),
    publish_to_home(keys[5], argv[at + 4], argv[at + 5], 'h' .. reader))
end
