local function stream_id(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(seq)
end

-- up_to_parts reports whether stream id a is less than or equal to one of which the parts are known.
local function up_to_parts(a, b_ms, b_seq)
  local a_ms, a_seq = stream_id(a)
  return a_ms < b_ms or (a_ms == b_ms and a_seq <= b_seq)
end

-- up_to reports whether stream id a is less than or equal to b.
local function up_to(a, b)
  return up_to_parts(a, stream_id(b))
end

-- order_field returns the field with the latest entry of an author whose delivery to homes ('h') or lists
-- ('l') of this partition has begun. Entries of one author are delivered in order.
local function order_field(kind, author)
  return 'a' .. kind .. author
end

-- entry_progress returns how far an outbox entry has been delivered here: '' if delivery has not begun,
-- 'done', or the progress that an earlier call stored.
--
-- If an ordering field is given, the function returns 'late' when the delivery of a later entry of the
-- author has begun here. A worker that takes over may see followers that the first one did not see, or a
-- failover may have lost the delivery. If the entry was delivered now, the post would go on top of the
-- newer one. It has to be merged.
local function entry_progress(key, entry, field, order)
  local found = redis.call('HMGET', key, 'watermark', field, order or field)
  local watermark, progress, latest = found[1], found[2], found[3]
  if watermark and up_to(entry, watermark) then
    return 'done'
  end
  if progress ~= 'done' and order and latest and not up_to(latest, entry) then
    return 'late'
  end
  return progress or ''
end
