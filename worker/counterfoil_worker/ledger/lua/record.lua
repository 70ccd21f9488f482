#!lua
-- needs bodies
-- Record, once, a layer's receipt.
-- ARGV  rid layer digest outcome inputs parent ends body
-- Returns  {'ok' | 'exists', digest, outcome}, {'mismatch'} or {'concluded'}
local rid, layer, digest, outcome = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local before = ({semantic = 'structured', behavior = 'semantic'})[layer]

local run = fields('run:' .. rid, 'state', 'ended', 'rc:' .. layer, 'oc:' .. layer, 'in:' .. layer,
  'rc:' .. (before or 'none'))
if not run.state or run.state == 'concluded' then return {'concluded'} end
if run['rc:' .. layer] then return {'exists', run['rc:' .. layer], run['oc:' .. layer]} end
local parent = before and run['rc:' .. before] or ''
if run['in:' .. layer] ~= ARGV[5] or run.ended or ARGV[6] ~= parent or (before and parent == '') then
  return {'mismatch'}
end
check_body(digest)

call('HSET', key('run:' .. rid), 'rc:' .. layer, digest, 'oc:' .. layer, outcome)
if ARGV[7] == '1' then call('HSET', key('run:' .. rid), 'ended', '1') end
store_body(digest, ARGV[8])
return {'ok', digest, outcome}
