-- leave_tombstone replaces a post or repost by a tombstone, queues its removal from other timelines, and publishes
-- the removal to the watched timelines of its author. The caller updates the profile. A repeat has no
-- effect.
--
-- keys  user, outbox, changes, online, nodes; also origin, of the entry
local function leave_tombstone(keys, post_key, post, author, changes_kept, command, channel)
  if redis.call('HEXISTS', post_key, 'deleted') == 1 then
    return
  end
  redis.call('HDEL', post_key, 'text')
  redis.call('HSET', post_key, 'deleted', string.format('%.0f', unix_ms()))
  local entry = { 'kind', 'delete', 'author', author, 'post', post }
  local stored = redis.call('HMGET', post_key, 'mentions', 'thread', 'quoted', 'reposted', 'tags')
  if not stored[4] then
    redis.call('HINCRBY', keys.user, 'posts', -1) -- reposts are not counted
  end
  if stored[1] then
    entry[#entry + 1], entry[#entry + 2] = 'mentions', stored[1]
  end
  if stored[2] then
    entry[#entry + 1], entry[#entry + 2] = 'reply_to', string.match(stored[2], '%d+$')
  end
  if stored[3] then
    entry[#entry + 1], entry[#entry + 2] = 'quoted', stored[3]
  end
  if stored[4] then
    entry[#entry + 1], entry[#entry + 2] = 'reposted', stored[4]
  end
  if stored[5] then
    entry[#entry + 1], entry[#entry + 2] = 'tags', stored[5]
  end
  enqueue(keys.outbox, entry, keys.origin)
  add_change(keys.changes, changes_kept, 'removed', post, author)
  publish(keys.nodes, command, channel, '- ' .. post .. ' ' .. author,
    watched(keys.online, { 'h' .. author, 'u' .. author, 'r' .. author }))
end
