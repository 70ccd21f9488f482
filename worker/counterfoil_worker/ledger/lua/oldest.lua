#!lua flags=no-writes
-- How long the oldest member of a set of times is in it, in ms; -1 for an empty set.
-- ARGV  set
local found = call('ZRANGE', key(ARGV[1]), 0, 0, 'WITHSCORES')
return #found == 0 and -1 or math.max(0, now_ms() - tonumber(found[2]))
