-- begin_list_deletion takes a list from sight, queues its taking apart, and has those who watch it
-- look for themselves. It needs publish.
--
-- at  lists, outbox, online, nodes: keys; command, channel: see publish
local function begin_list_deletion(at, list_key, list)
  redis.call('HSET', list_key, 'state', 'deleted')
  redis.call('ZREM', at.lists, list)
  redis.call('DEL', list_key .. ':posts')
  redis.call('XADD', at.outbox, '*', 'kind', 'delete_list', 'list', list)
  publish(at.nodes, at.command, at.channel, '!', watched(at.online, { 'l' .. list }))
end
