-- check_owner returns 'ok' when a list is there and an owner's, else 'missing' or 'forbidden'.
local function check_owner(list, owner)
  local found = redis.call('HMGET', list, 'state', 'owner')
  if found[1] ~= 'active' then
    return 'missing'
  end
  return found[2] == owner and 'ok' or 'forbidden'
end
