#!lua
-- needs bodies evidence
-- Fix, once, what a layer of a run is judged on.
-- ARGV  rid layer digest body item...
-- Returns  {'ok', digest}, {'exists', digest}, {'revoked', item...} or {'concluded'}
local rid, layer, digest = ARGV[1], ARGV[2], ARGV[3]
local items = {unpack(ARGV, 5)}

local run = fields('run:' .. rid, 'state', 'in:' .. layer)
if not run.state or run.state == 'concluded' then return {'concluded'} end
if run['in:' .. layer] then return {'exists', run['in:' .. layer]} end
local gone = withdrawn(items)
if #gone > 0 then return {'revoked', unpack(gone)} end
check_body(digest)
call('ZCARD', key('deadlines'))

local values = {'in:' .. layer, digest}
for i, item in ipairs(items) do
  values[#values + 1] = 'rest:' .. i
  values[#values + 1] = item
end
call('HSET', key('run:' .. rid), unpack(values))
store_body(digest, ARGV[4])
if layer == 'semantic' then call('ZREM', key('deadlines'), rid) end
return {'ok', digest}
