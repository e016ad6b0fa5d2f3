-- check_owner returns 'ok' if a list exists and belongs to the owner, 'missing' if it does not exist, and
-- 'forbidden' if it belongs to another user.
local function check_owner(list, owner)
  local found = redis.call('HMGET', list, 'state', 'owner')
  if found[1] ~= 'active' then
    return 'missing'
  end
  return found[2] == owner and 'ok' or 'forbidden'
end
