-- count_followers counts an author's followers in this partition, as of a version.
--
-- KEYS   1 followers   2 clock
-- Reply  { version, followers }
--@include clock
return { string.format('%.0f', tick(KEYS[2])), redis.call('ZCARD', KEYS[1]) }
