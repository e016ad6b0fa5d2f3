-- leave_tombstone replaces a post by a tombstone, queues its removal from other timelines, and publishes
-- the removal to the watched timelines of its author. The caller updates the profile. A repeat has no
-- effect.
--
-- keys  user, outbox, changes, online, nodes
local function leave_tombstone(keys, post_key, post, author, changes_kept, command, channel)
  if redis.call('HEXISTS', post_key, 'deleted') == 1 then
    return
  end
  redis.call('HDEL', post_key, 'text')
  redis.call('HSET', post_key, 'deleted', string.format('%.0f', unix_ms()))
  redis.call('HINCRBY', keys.user, 'posts', -1)
  local mentions = redis.call('HGET', post_key, 'mentions')
  redis.call('XADD', keys.outbox, '*', 'kind', 'delete', 'author', author, 'post', post,
    unpack(mentions and { 'mentions', mentions } or {}))
  add_change(keys.changes, changes_kept, 'removed', post, author)
  publish(keys.nodes, command, channel, '- ' .. post .. ' ' .. author, watched(keys.online, { 'h' .. author, 'u' .. author }))
end
