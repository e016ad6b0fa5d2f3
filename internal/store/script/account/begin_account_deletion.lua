-- begin_account_deletion closes an account permanently if its password hash is still the one that
-- was verified. It ends every session and queues the first account deletion step. A repeat has no
-- effect.
--
-- KEYS   1 account   2 sessions   3 outbox   4 newest users   5 search words
-- ARGV   1 user   2 bucket   3 session key prefix   4 password hash
--        5 origin of the entry: see lib/enqueue.lua
-- Reply  1, or 0 if the hash has changed or there is no such account
--@include session
--@include words
--@include enqueue

local found = redis.call('HMGET', KEYS[1], 'state', 'password')
if found[1] == 'deleting' or found[1] == 'detaching' or found[1] == 'deleted' then
  return 1 -- the reply was lost, and the worker may have been faster than the repeat
end
if found[1] ~= 'active' or found[2] ~= ARGV[4] then
  return 0
end
end_all_sessions(KEYS[1], KEYS[2], ARGV[3], ARGV[1], ARGV[2])
redis.call('HDEL', KEYS[1], 'password')
redis.call('HSET', KEYS[1], 'state', 'deleting', 'step', '0')
redis.call('PUBLISH', 'retwis:authors', ARGV[1])
redis.call('ZREM', KEYS[4], ARGV[1])
unindex_user(KEYS[1], KEYS[5], ARGV[1])
enqueue(KEYS[3], { 'kind', 'delete_account', 'user', ARGV[1], 'step', '0' }, ARGV[5])
return 1
