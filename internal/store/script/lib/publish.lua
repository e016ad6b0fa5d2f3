-- publish sends a message to every node that serves one of the timelines. The message consists of head,
-- then for each timeline its name and, if given, the entry that was newest before. A timeline without
-- nodes is no error, because presence expires.
local function publish(nodes, command, channel, head, names, before)
  if #names == 0 then
    return
  end
  local messages = {}
  local served = redis.call('HMGET', nodes, unpack(names))
  for i, name in ipairs(names) do
    for node in string.gmatch(served[i] or '', '%S+') do
      local message = messages[node]
      if not message then
        message = { head }
        messages[node] = message
      end
      message[#message + 1] = name
      if before then
        message[#message + 1] = before[i]
      end
    end
  end
  for node, message in pairs(messages) do
    redis.call(command, channel .. node, table.concat(message, ' '))
  end
end

-- watched returns the timelines that have an open subscription.
local function watched(online, names)
  local found = {}
  if #names == 0 or redis.call('SCARD', online) == 0 then
    return found
  end
  for i, is_online in ipairs(redis.call('SMISMEMBER', online, unpack(names))) do
    if is_online == 1 then
      found[#found + 1] = names[i]
    end
  end
  return found
end
