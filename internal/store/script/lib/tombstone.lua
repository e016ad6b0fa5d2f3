-- leave_tombstone leaves a tombstone of a post in the post's place, queues its removal elsewhere
-- and tells those who watch its author. The profile is the caller's. A post that is a
-- tombstone stays as it is.
--
-- at names keys: user, outbox, removals, online, nodes.
local function leave_tombstone(at, post_key, post, author, removals, command, channel)
  if redis.call('HEXISTS', post_key, 'deleted') == 1 then
    return
  end
  redis.call('HDEL', post_key, 'text')
  redis.call('HSET', post_key, 'deleted', string.format('%.0f', unix_ms()))
  redis.call('HINCRBY', at.user, 'posts', -1)
  local mentions = redis.call('HGET', post_key, 'mentions')
  redis.call('XADD', at.outbox, '*', 'kind', 'delete', 'author', author, 'post', post,
    unpack(mentions and { 'mentions', mentions } or {}))
  redis.call('XADD', at.removals, 'MAXLEN', removals, '*', 'post', post, 'author', author)
  publish(at.nodes, command, channel, '- ' .. post .. ' ' .. author, watched(at.online, { 'h' .. author, 'u' .. author }))
end
