local function stream_id(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(seq)
end

-- up_to reports whether stream id a is at or below b.
local function up_to(a, b)
  local a_ms, a_seq = stream_id(a)
  local b_ms, b_seq = stream_id(b)
  return a_ms < b_ms or (a_ms == b_ms and a_seq <= b_seq)
end

-- position_of returns how far an outbox entry has been carried out here: '' not at
-- all, 'done', or the position that an earlier call stored.
local function position_of(progress, entry, field)
  local low = redis.call('HGET', progress, 'low')
  if low and up_to(entry, low) then
    return 'done'
  end
  return redis.call('HGET', progress, field) or ''
end
