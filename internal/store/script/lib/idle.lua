local function today()
  return math.floor(tonumber(redis.call('TIME')[1]) / 86400)
end

-- record_read writes down that a timeline is read today, once a day. Only timelines that can
-- be built anew have a hash to write to.
local function record_read(hash)
  local found = redis.call('HMGET', hash, 'state', 'last_read')
  if found[1] == 'active' and tonumber(found[2]) ~= today() then
    redis.call('HSET', hash, 'last_read', today())
  end
end
