-- Each partition has a stream of changes, from which timelines are replayed. The first field of a change is its kind,
-- and the second one its author:
--   removed, hidden, restored   the post
--   state                       the new state of the author's account
-- Nothing produces kinds other than removed yet. Readers ignore unknown kinds.

-- add_change adds a change, and keeps the newest ones.
local function add_change(changes, keep, kind, subject, author)
  redis.call('XADD', changes, 'MAXLEN', keep, '*', kind, subject, 'author', author)
end
