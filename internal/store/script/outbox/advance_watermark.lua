-- advance_watermark advances the watermark of an outbox in this partition. It never moves the
-- watermark back.
--
-- KEYS   1 progress   2 merge marks   3 older merge marks
-- ARGV   1 entry   2 number of fields of progress here that are finished with the entries up to it
-- Reply  'ok'
--@include progress
--@include mergemarks

advance(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2])
return 'ok'
