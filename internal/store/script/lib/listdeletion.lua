-- begin_list_deletion marks a list as deleted, queues the removal of its members, and publishes a change
-- message to its subscribers, who find that the list has ended.
--
-- keys  lists, outbox, online, nodes; also origin, of the entry, and command and channel of lib/publish.lua
local function begin_list_deletion(keys, list_key, list, owner)
  redis.call('HSET', list_key, 'state', 'deleted')
  redis.call('ZREM', keys.lists, list)
  redis.call('DEL', list_key .. ':posts')
  enqueue(keys.outbox, { 'kind', 'delete_list', 'list', list, 'owner', owner }, keys.origin)
  publish(keys.nodes, keys.command, keys.channel, '!', watched(keys.online, { 'l' .. list }))
end
