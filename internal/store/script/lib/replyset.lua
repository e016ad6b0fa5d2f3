-- The replies of a post are a sorted set, and so are its quotes and its reposts. A score is the creation time of the reply in milliseconds. That of a reply by the
-- author of the post is lower by FIRST, so that these come before all others; but only up to a number of them.
local FIRST = 10000000000000

-- reply_score returns the score of a reply, one of those that come first or not.
local function reply_score(reply, first)
  return string.format('%.0f', millis_of(reply) - (first and FIRST or 0))
end

-- add_reply adds a reply to the replies of a post unless they hold it, and returns the number of replies added. Above
-- the cap it removes the oldest replies of other users, and records that in a field of the post. Quotes and reposts are added the same way.
local function add_reply(replies, post, reply, by_author, cap, most_first, trimmed)
  if redis.call('ZSCORE', replies, reply) then
    return 0
  end
  local first = by_author and redis.call('ZCOUNT', replies, '-inf', '(0') < most_first
  redis.call('ZADD', replies, reply_score(reply, first), reply)
  local surplus = redis.call('ZCARD', replies) - cap
  if surplus > 0 then
    local from = math.min(redis.call('ZCOUNT', replies, '-inf', '(0'), cap)
    redis.call('ZREMRANGEBYRANK', replies, from, from + surplus - 1)
    if redis.call('EXISTS', post) == 1 then
      redis.call('HSET', post, trimmed, 1)
    end
  end
  return 1
end
