-- Merge marks keep fan-out from pushing what a merge brought. A back-fill or a rebuild reads
-- posts that may still wait in an outbox. They may have been trimmed from the list again by
-- the time fan-out reaches them: then nothing in the list tells that they were there.
--
-- So a merge marks the list, for each partition that it read posts from, with the instant of
-- that partition's clock at the reading. Everything made until then was read, or was too old
-- to have room. A rebuild's field is the name of the timeline, a back-fill's is the name, ':'
-- and the author. Field 'newest' is the greatest mark; 'last' the last entry that any of the
-- outboxes read held at the reading. When the outbox is carried out up to it, the marks are
-- not needed any more.
--
-- Marks come in two generations, so that all of one can be dropped at once: new marks go to
-- the first, and the second is dropped when the watermark has passed its last entry.

-- set_merge_mark marks a list, unless it has a later mark.
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

-- drop_merge_marks drops the marks that a watermark has passed.
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

-- advance notes that every entry of an outbox up to one is carried out here, and forgets
-- the positions of those, the order that end with one of them, and the merge marks that are
-- not needed any more. It never goes back.
local function advance(progress, marks, older_marks, entry)
  local low = redis.call('HGET', progress, 'watermark')
  if low and up_to(entry, low) then
    return
  end
  redis.call('HSET', progress, 'watermark', entry)
  drop_merge_marks(marks, older_marks, entry)
  local finished = {}
  local fields = redis.call('HGETALL', progress)
  for i = 1, #fields, 2 do
    local at = string.match(fields[i], '^a%l%d+$') and fields[i + 1] or string.match(fields[i], '^%d+%-%d+')
    if at and up_to(at, entry) then
      finished[#finished + 1] = fields[i]
    end
  end
  for from = 1, #finished, 500 do
    redis.call('HDEL', progress, unpack(finished, from, math.min(from + 499, #finished)))
  end
end

-- merge_marks_after returns those generations of marks that a post may be at or below.
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

-- merged_already tells for each of some timelines, by index, whether a post is at or below
-- its mark.
local function merged_already(generations, names, author, post)
  local merged = {}
  if #generations == 0 then
    return merged
  end
  local at, fields = instant_of(post), {}
  for i, name in ipairs(names) do
    fields[2 * i - 1], fields[2 * i] = name, name .. ':' .. author
  end
  for _, key in ipairs(generations) do
    for i, mark in ipairs(redis.call('HMGET', key, unpack(fields))) do
      if mark and at <= tonumber(mark) then
        merged[math.ceil(i / 2)] = true
      end
    end
  end
  return merged
end
