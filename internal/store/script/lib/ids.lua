-- below compares post ids. They exceed what Lua's doubles hold, so they stay decimal
-- strings without leading zeros.
local function below(a, b)
  if #a ~= #b then
    return #a < #b
  end
  return a < b
end
