-- enqueue adds an entry to an outbox, of names and values of fields. origin is the network from which its user acted, '' if that is unknown.
local function enqueue(outbox, entry, origin)
  if origin ~= '' then
    entry[#entry + 1], entry[#entry + 2] = 'origin', origin
  end
  redis.call('XADD', outbox, '*', unpack(entry))
end
