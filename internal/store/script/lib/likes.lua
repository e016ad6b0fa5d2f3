-- The set of changed likes of a partition has the posts whose number of likers here may differ from the number that the
-- partition of the post stores. A score is the time, in milliseconds, from which the worker counts the likers.

-- likes_changed records that the likers of a post have changed. It returns 1 if the caller stores the new number, and 0 if
-- the worker does: a number is stored once in a period, given in milliseconds.
local function likes_changed(changed, post, period)
  return redis.call('ZADD', changed, 'NX', string.format('%.0f', unix_ms() + period), post)
end

-- count_again makes the worker count a post, also if the worker is about to settle it: the post gets another time from which it
-- is due.
local function count_again(changed, post)
  local due, before = unix_ms(), tonumber(redis.call('ZSCORE', changed, post) or '0')
  redis.call('ZADD', changed, string.format('%.0f', due > before and due or before + 1), post)
end
