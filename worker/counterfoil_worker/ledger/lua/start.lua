#!lua
-- needs batches
-- Make a batch one delivery's own.
-- ARGV  batch token work_ms
-- Returns  {'ok', alone, rid...}, {'taken'} or {'stale'}
local token = ARGV[2]
local batch = whole_batch(ARGV[1])
if not batch then return {'stale'} end
if batch.token and batch.token ~= token then return {'taken'} end
local lease_end = math.max(now_ms() + int(ARGV[3], 'work_ms'), score('leases', ARGV[1]) or 0)

call('HSET', key('batch:' .. ARGV[1]), 'token', token)
call('ZADD', key('leases'), text(lease_end), ARGV[1])
return {'ok', batch.alone, unpack(batch.members)}
