-- look_up_values returns the values of some fields of a hash.
--
-- KEYS   1 hash
-- ARGV   fields, at most 1000
-- Reply  { { the value of each, false if the hash lacks it }, rows visited }
--@include rows
--@include members

return counted({ values_of(KEYS[1], ARGV) })
