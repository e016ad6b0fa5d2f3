-- discard takes a list from sight and queues its taking apart.
local function discard(list_key, lists, outbox, list)
  redis.call('HSET', list_key, 'state', 'deleted')
  redis.call('ZREM', lists, list)
  redis.call('DEL', list_key .. ':posts')
  redis.call('XADD', outbox, '*', 'kind', 'unlist', 'list', list)
end
