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

-- order_field names the field that holds the latest entry of an author which a partition's
-- homes ('h') or lists ('l') have been given.
local function order_field(kind, author)
  return 'a' .. kind .. author
end

-- entry_progress returns how far an outbox entry has been carried out here: '' not at
-- all, 'done', or the position that an earlier call stored.
--
-- With a order, an entry is done too when a later one of its author has begun here. Entries
-- of an author follow each other: so whoever went on to the later one found this one done,
-- or that nobody here followed the author, and those who follow since are back-filled.
-- Pushed now, as by a worker that takes over and sees more followers, the post would come
-- on top of the newer one. That it is done is written down, for whoever confirms it.
local function entry_progress(progress, entry, field, order)
  local found = redis.call('HMGET', progress, 'watermark', field, order or field)
  local low, position, latest = found[1], found[2], found[3]
  if low and up_to(entry, low) then
    return 'done'
  end
  if order and latest and not up_to(latest, entry) then
    redis.call('HSET', progress, field, 'done')
    return 'done'
  end
  return position or ''
end
