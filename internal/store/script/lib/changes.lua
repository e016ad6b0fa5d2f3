-- Each partition has a stream of changes, from which timelines are replayed. The first field of a change is its kind,
-- and the second one its author:
--   removed, hidden, restored   the post
--   state                       the new state of the author's account
-- Nothing produces kinds other than removed yet. Readers ignore unknown kinds.

-- add_change adds a change, and keeps the newest ones. It also stores the id of the last one in a string of its own, because most
-- reads need this id only, and reading a stream is slow.
local function add_change(changes, keep, kind, subject, author)
  redis.call('SET', changes .. ':last', redis.call('XADD', changes, 'MAXLEN', keep, '*', kind, subject, 'author', author))
end

-- last_change returns the id of the last change.
local function last_change(changes)
  return redis.call('GET', changes .. ':last') or '0-0'
end

-- changes_since returns the last change, and what followed a position in the stream: '1' and the kind and subject of each
-- change, in pairs; or '0' if some may be missing, because the stream no longer holds the position or more than a number
-- of changes followed. Without a position it returns nothing else.
local function changes_since(changes, position, most)
  local last = last_change(changes)
  if position == '' or position == last then
    return last, { position ~= '' and '1' or nil }
  end
  local found = redis.call('XRANGE', changes, position, '+', 'COUNT', most + 2)
  if #found == 0 or #found == most + 2 or found[1][1] ~= position then
    return last, { '0' }
  end
  local since = { '1' }
  for i = 2, #found do
    since[#since + 1] = found[i][2][1]
    since[#since + 1] = found[i][2][2]
  end
  return last, since
end
