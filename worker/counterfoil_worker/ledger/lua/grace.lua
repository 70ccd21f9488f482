#!lua
-- Give every lease one more work time, once per mark.
-- ARGV  work_ms mark
-- Returns  how many leases moved; 0 for a mark that was there
local KEEP = 1000
if call('ZSCORE', key('marks'), ARGV[2]) then return 0 end
local work = int(ARGV[1], 'work_ms')
local leases = call('ZRANGE', key('leases'), 0, -1)

for _, number in ipairs(leases) do call('ZINCRBY', key('leases'), text(work), number) end
call('ZADD', key('marks'), text(now_ms()), ARGV[2])
call('ZREMRANGEBYRANK', key('marks'), 0, -KEEP - 1)
return #leases
