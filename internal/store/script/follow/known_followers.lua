-- known_followers looks up which of some users follow a user.
--
-- KEYS   1 followers of the user in this partition
-- ARGV   users of this partition, at most 1000
-- Reply  { { the score of each among the followers, false if it does not follow }, rows visited }
--@include rows
--@include members

return counted({ scores_of(KEYS[1], ARGV) })
