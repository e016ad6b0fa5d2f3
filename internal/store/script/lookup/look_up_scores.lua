-- look_up_scores returns the scores of some members of a sorted set.
--
-- KEYS   1 sorted set
-- ARGV   members, at most 1000
-- Reply  { { the score of each, false if the set lacks it }, rows visited }
--@include rows
--@include members

return counted({ scores_of(KEYS[1], ARGV) })
