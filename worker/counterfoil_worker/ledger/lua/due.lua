#!lua flags=no-writes
-- Members of a set of times that are at least `age` old by this clock, oldest first.
-- ARGV  set age limit
local limit = text(now_ms() - int(ARGV[2], 'age'))
return call('ZRANGEBYSCORE', key(ARGV[1]), '-inf', limit, 'LIMIT', 0, int(ARGV[3], 'limit'))
