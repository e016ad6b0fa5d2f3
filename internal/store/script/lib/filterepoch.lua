-- raise_filter_epoch raises the filter epoch of a user, and publishes a change message to the user's watched home and
-- mentions, whose processes compare it. It needs publish.
local function raise_filter_epoch(account, online, nodes, user, command, channel)
  redis.call('HINCRBY', account, 'filter_epoch', 1)
  publish(nodes, command, channel, '!', watched(online, { 'h' .. user, 'm' .. user }))
end
