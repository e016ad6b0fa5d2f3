-- set_offline records that a node no longer serves subscriptions of timelines.
--
-- KEYS   1 online   2 online nodes   3 online expiry
-- ARGV   1 node   2… timelines
-- Reply  'ok'
--@include presence
for i = 2, #ARGV do
  remove_node(ARGV[i], ARGV[1])
end
return 'ok'
