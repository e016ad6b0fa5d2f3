-- restart_build empties the list of a timeline and marks it as being built: fan-out pushes to it, and the
-- next read adds older posts. Subscribers receive a change message.
local function restart_build(list, hash, online, nodes, command, channel, name)
  redis.call('DEL', list)
  redis.call('RPUSH', list, 'b')
  redis.call('HINCRBY', hash, 'epoch', 1)
  publish(nodes, command, channel, '!', watched(online, { name }))
end
