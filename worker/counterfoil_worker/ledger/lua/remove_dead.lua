#!lua flags=allow-oom
-- needs removal
-- Remove dead letters, which nobody will read any more.
-- ARGV  entry...
-- Returns  how many were there
call('XLEN', key('dead'))
return remove_entries('dead', {unpack(ARGV)})
