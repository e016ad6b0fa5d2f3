-- restart_build takes a timeline's entries away and leaves it as one that is being built: fan-out
-- pushes to it, and whoever reads it gathers the rest. Subscribers are told that it changed.
local function restart_build(list, hash, online, nodes, command, channel, name)
  redis.call('DEL', list)
  redis.call('RPUSH', list, 'b')
  redis.call('HINCRBY', hash, 'epoch', 1)
  publish(nodes, command, channel, '!', watched(online, { name }))
end
