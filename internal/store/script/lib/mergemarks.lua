-- Merge marks prevent fan-out from pushing posts that a merge has read. A back-fill or a rebuild reads
-- posts whose outbox entries may still wait. The list may have trimmed such a post by the time fan-out
-- delivers it, so a search of the list is not enough.
--
-- Therefore each merge sets a mark for the list and for each partition that it read posts from. The mark
-- is the instant of that partition's clock at the time of the read: the merge has read every post
-- created up to then, or the list had no room for it. The field of a rebuild is the name of the
-- timeline; the field of a back-fill is the name, ':' and the author. The name and ':least' is a field
-- of insert_post. Field 'newest' is the greatest mark. Field 'last' is the last entry that any of the
-- outboxes read held at the time of the read. When the watermark passes that entry, the marks are no
-- longer needed.
--
-- New marks go to the first of two keys. Once the watermark has passed all marks of the second key, the
-- second key is deleted and the first one renamed to it.

-- set_merge_mark sets the mark of a list, unless the list has a later one.
local function set_merge_mark(marks, field, instant, last)
  local known = redis.call('HMGET', marks, field, 'newest', 'last')
  local at = tonumber(instant)
  if not known[1] or tonumber(known[1]) < at then
    redis.call('HSET', marks, field, instant)
  end
  if not known[2] or tonumber(known[2]) < at then
    redis.call('HSET', marks, 'newest', instant)
  end
  if not known[3] or up_to(known[3], last) then
    redis.call('HSET', marks, 'last', last)
  end
end

-- drop_merge_marks deletes the marks that a watermark has passed.
local function drop_merge_marks(marks, older, watermark)
  local older_last, last = redis.call('HGET', older, 'last'), redis.call('HGET', marks, 'last')
  if older_last and up_to(older_last, watermark) then
    redis.call('UNLINK', older)
    older_last = nil
  end
  if last and up_to(last, watermark) then
    redis.call('UNLINK', marks)
  elseif last and not older_last then
    redis.call('RENAME', marks, older)
  end
end

-- A hash of progress with more fields is searched for those of finished entries only if many of them are.
local FEW_FIELDS = 128

-- One call searches about as many fields, which takes a millisecond. Finished entries may be tens of thousands behind one that is not.
local SEARCHED_FIELDS = 1000

-- advance moves the watermark of an outbox in this partition up to an entry. It deletes the merge marks that are no longer needed, the progress of
-- the entries up to there, and the ordering fields that name one of them. A field that the watermark has passed has no effect. Thousands of later
-- entries may have some, so it searches for such fields only once a quarter of them is finished, of which the caller says how many it knows of; the next
-- calls go on with the search. It never moves the watermark back.
local function advance(progress, marks, older_marks, entry, finished_fields)
  local watermark = redis.call('HGET', progress, 'watermark')
  if watermark and up_to(entry, watermark) then
    return
  end
  redis.call('HSET', progress, 'watermark', entry)
  drop_merge_marks(marks, older_marks, entry)
  local size, searched_to = redis.call('HLEN', progress), redis.call('HGET', progress, 'searched_to')
  local finished = size > FEW_FIELDS and redis.call('HINCRBY', progress, 'finished', finished_fields)
  if finished and not searched_to and finished < size / 4 then
    return
  end
  local found = redis.call('HSCAN', progress, searched_to or '0', 'COUNT', SEARCHED_FIELDS)
  local fields, passed = found[2], {}
  if found[1] == '0' then
    passed = { 'finished', 'searched_to' }
  else
    redis.call('HSET', progress, 'searched_to', found[1])
  end
  local entry_ms, entry_seq = stream_id(entry)
  for i = 1, #fields, 2 do
    local at = string.match(fields[i], '^a%l%d+$') and fields[i + 1] or string.match(fields[i], '^%d+%-%d+')
    if at and up_to_parts(at, entry_ms, entry_seq) then
      passed[#passed + 1] = fields[i]
    end
  end
  for from = 1, #passed, 500 do
    redis.call('HDEL', progress, unpack(passed, from, math.min(from + 499, #passed)))
  end
end

-- merge_marks_after returns the keys whose greatest mark is at or above a post.
local function merge_marks_after(marks, older, post)
  local found = {}
  if redis.call('EXISTS', marks, older) == 0 then
    return found
  end
  local at = instant_of(post)
  for _, key in ipairs({ marks, older }) do
    local newest = redis.call('HGET', key, 'newest')
    if newest and at <= tonumber(newest) then
      found[#found + 1] = key
    end
  end
  return found
end

-- marks_of returns the values of some fields of a hash of marks, in their order. Redis stores a small hash packed, and searches it from the
-- beginning for each field, so it is read once for many fields.
local function marks_of(key, fields)
  local encoding = #fields > 32 and redis.pcall('OBJECT', 'ENCODING', key)
  if encoding ~= 'listpack' and encoding ~= 'ziplist' then
    return redis.call('HMGET', key, unpack(fields))
  end
  local all, value, found = redis.call('HGETALL', key), {}, {}
  for i = 1, #all, 2 do
    value[all[i]] = all[i + 1]
  end
  for i, field in ipairs(fields) do
    found[i] = value[field] or false
  end
  return found
end

-- merged_already returns the indexes of the timelines whose mark is at or above a post, as a set.
local function merged_already(keys, names, author, post)
  local merged = {}
  if #keys == 0 then
    return merged
  end
  local at, fields = instant_of(post), {}
  for i, name in ipairs(names) do
    fields[2 * i - 1], fields[2 * i] = name, name .. ':' .. author
  end
  for _, key in ipairs(keys) do
    for i, mark in ipairs(marks_of(key, fields)) do
      if mark and at <= tonumber(mark) then
        merged[math.ceil(i / 2)] = true
      end
    end
  end
  return merged
end
