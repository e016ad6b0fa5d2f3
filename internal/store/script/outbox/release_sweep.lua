-- release_sweep releases the lease of the sweep if the worker holds it.
--
-- KEYS   1 sweep
-- ARGV   1 worker   2 '1' if the sweep is complete, else '0'
-- Reply  'ok'
--@include clock
if redis.call('HGET', KEYS[1], 'worker') == ARGV[1] then
  redis.call('HDEL', KEYS[1], 'worker', 'since', 'until')
  if ARGV[2] == '1' then
    redis.call('HSET', KEYS[1], 'ended', string.format('%.0f', unix_ms()))
  end
end
return 'ok'
