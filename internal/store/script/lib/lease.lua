-- lease_holder returns the worker that holds a lease, nil if none does. A lease that lasts longer than it was acquired
-- for is void: the clock went back since.
local function lease_holder(lease)
  local worker, ttl = string.match(redis.call('GET', lease) or '', '^(.*) (%d+)$')
  if worker and redis.call('PTTL', lease) <= tonumber(ttl) then
    return worker
  end
end
