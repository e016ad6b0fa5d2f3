-- The rows that a script visits without returning them. An operation pays for a row about as much as for half a microsecond.
local rows = 0

local function visit(count)
  rows = rows + count
end

-- counted appends the number of rows to a reply. The driver charges the operation for them.
local function counted(reply)
  reply[#reply + 1] = math.ceil(rows)
  return reply
end
