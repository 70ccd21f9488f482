#!lua
-- needs batches
-- Move the end of a started lease, never backwards.
-- ARGV  batch token work_ms
-- Returns  1, or 0 when the batch is gone or another's
local batch = batch_head(ARGV[1])
if not batch or batch.token ~= ARGV[2] then return 0 end
local lease_end = math.max(now_ms() + int(ARGV[3], 'work_ms'), score('leases', ARGV[1]) or 0)

call('ZADD', key('leases'), text(lease_end), ARGV[1])
return 1
