-- lease_holder returns the worker that holds the lease of an outbox.
--
-- KEYS   1 lease
-- Reply  the worker, '' if no worker holds the lease
--@include lease
return lease_holder(KEYS[1]) or ''
