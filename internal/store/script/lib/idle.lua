local function today()
  return math.floor(tonumber(redis.call('TIME')[1]) / 86400)
end

-- note_read writes down that a timeline is read today, once a day. Only timelines that can
-- be built anew have a hash to write to.
local function note_read(hash)
  local found = redis.call('HMGET', hash, 'state', 'read')
  if found[1] == 'active' and tonumber(found[2]) ~= today() then
    redis.call('HSET', hash, 'read', today())
  end
end
