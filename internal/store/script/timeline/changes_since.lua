-- changes_since reads what followed a position in the changes of a partition.
--
-- KEYS   1 changes
-- ARGV   1 position, '' for none   2 maximum number of changes
-- Reply  { last change, changes as of lib/changes.lua }
--@include changes

return { changes_since(KEYS[1], ARGV[1], tonumber(ARGV[2])) }
