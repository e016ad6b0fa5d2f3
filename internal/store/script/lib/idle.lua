local function today()
  return math.floor(tonumber(redis.call('TIME')[1]) / 86400)
end

-- record_read records that a timeline is read today, at most once a day, and returns its epoch. Only timelines
-- that can be rebuilt have a hash to record it in.
local function record_read(hash)
  local found = redis.call('HMGET', hash, 'state', 'last_read', 'epoch')
  if found[1] == 'active' and tonumber(found[2]) ~= today() then
    redis.call('HSET', hash, 'last_read', today())
  end
  return found[3] or '0'
end
