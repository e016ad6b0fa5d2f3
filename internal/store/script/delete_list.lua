-- delete_list takes a list from sight and queues its taking apart.
--
-- KEYS   1 list   2 lists of the owner   3 outbox   4 posts
-- ARGV   1 owner   2 list
-- Reply  'ok', 'missing' or 'other' when it is another owner's
--@include owned

local state = owned(KEYS[1], ARGV[1])
if state == 'ok' then
  redis.call('HSET', KEYS[1], 'state', 'deleted')
  redis.call('ZREM', KEYS[2], ARGV[2])
  redis.call('DEL', KEYS[4])
  redis.call('XADD', KEYS[3], '*', 'kind', 'unlist', 'list', ARGV[2])
end
return state
