#!lua
-- needs batches
-- End a started lease now: its members are lost, as if the time had run out.
-- ARGV  batch token
-- Returns  1, or 0 when the batch is gone or another's
local batch = batch_head(ARGV[1])
if not batch or batch.token ~= ARGV[2] then return 0 end
local lease_end = math.min(now_ms(), score('leases', ARGV[1]) or 0)

call('ZADD', key('leases'), text(lease_end), ARGV[1])
return 1
