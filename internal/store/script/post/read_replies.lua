-- read_replies reads replies of a post in one of two orders. In both, the replies that come first do so: see
-- lib/replyset.lua.
--
-- KEYS   1 replies
-- ARGV   1 'oldest' or 'newest' first   2 '1' to read backward   3 count   4 reply at which to begin, exclusive; '' for
--        the first one, or backward for the last one   5 '1' if that is one of those that come first
-- Reply  { reply, '1' if it comes first or '0', … } in the order of reading
--@include ids
--@include replyset

local newest, backward, count, from = ARGV[1] == 'newest', ARGV[2] == '1', tonumber(ARGV[3]), ARGV[4]
local start = from ~= '' and reply_score(from, ARGV[5] == '1')
local rising = newest == backward -- whether scores rise in the order of reading

-- The ranges of scores to read, one after the other.
local ranges
if not newest then
  ranges = rising and { { start or '-inf', '+inf' } } or { { start or '+inf', '-inf' } }
else
  local among_first = start and tonumber(start) < 0
  local first = rising and { '-inf', '(0' } or { '(0', '-inf' }
  local others = rising and { '0', '+inf' } or { '+inf', '0' }
  if among_first then
    first[1] = start
  elseif start then
    others[1] = start
  end
  if backward then
    ranges = among_first and { first } or { others, first }
  else
    ranges = start and not among_first and { others } or { first, others }
  end
end

-- passed reports whether a reply of the score of the start is not behind the start.
local function passed(reply)
  if rising then
    return not below(from, reply)
  end
  return not below(reply, from)
end

local found, command = {}, rising and 'ZRANGEBYSCORE' or 'ZREVRANGEBYSCORE'
for _, range in ipairs(ranges) do
  local offset, chunk = 0, nil
  repeat
    chunk = redis.call(command, KEYS[1], range[1], range[2], 'WITHSCORES', 'LIMIT', offset, count)
    for i = 1, #chunk, 2 do
      local reply, score = chunk[i], tonumber(chunk[i + 1])
      if #found < 2 * count and not (start and score == tonumber(start) and passed(reply)) then
        found[#found + 1] = reply
        found[#found + 1] = score < 0 and '1' or '0'
      end
    end
    offset = offset + count
  until #found >= 2 * count or #chunk < 2 * count
end
return found
