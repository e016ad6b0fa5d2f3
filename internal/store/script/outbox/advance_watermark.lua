-- advance_watermark notes that every entry of an outbox up to one is carried out here, and forgets
-- what was kept for those. It never goes back.
--
-- KEYS   1 progress   2 merge marks   3 older merge marks
-- ARGV   1 entry
-- Reply  'ok'
--@include progress
--@include mergemarks

advance(KEYS[1], KEYS[2], KEYS[3], ARGV[1])
return 'ok'
