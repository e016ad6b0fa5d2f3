-- first_where returns the least k from 1 to n for which holds(k) is true, or nil. If it is true for k, it is for k + 1.
local function first_where(n, holds)
  local low, high = 1, n + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if holds(middle) then
      high = middle
    else
      low = middle + 1
    end
  end
  return low <= n and low or nil
end

-- first_below returns the index, from 0, of the first entry with a leading id below another. The list is sorted by id, newest first. Without
-- such an entry it returns the length of the list.
local function first_below(list, id)
  local length = redis.call('LLEN', list)
  if length > 0 and below(redis.call('LINDEX', list, 0), id) then
    return 0
  end
  local k = first_where(length, function(k) return below(redis.call('LINDEX', list, k - 1), id) end)
  return k and k - 1 or length
end
