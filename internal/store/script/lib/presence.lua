-- remove_node removes a node from the nodes that serve a timeline. With the last node it removes the
-- timeline from the online timelines.
local function remove_node(name, node)
  redis.call('ZREM', KEYS[3], name .. ' ' .. node)
  local others = {}
  for other in string.gmatch(redis.call('HGET', KEYS[2], name) or '', '%S+') do
    if other ~= node then
      others[#others + 1] = other
    end
  end
  if #others > 0 then
    redis.call('HSET', KEYS[2], name, table.concat(others, ' '))
  else
    redis.call('HDEL', KEYS[2], name)
    redis.call('SREM', KEYS[1], name)
  end
end
