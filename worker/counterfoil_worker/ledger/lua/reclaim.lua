#!lua
-- needs ready batches
-- Take a batch back whose lease has run out by this clock.
-- ARGV  batch cap
-- Returns  {'live'}, or {'ok', unstarted, isolated, lost alone, capped rid...}
local lease_end, now = score('leases', ARGV[1]), now_ms()
if not lease_end or lease_end > now then return {'live'} end
local batch, cap = whole_batch(ARGV[1]), int(ARGV[2], 'cap')
if not batch then corrupt('batch ' .. ARGV[1] .. ' has a lease only') end

local runs = {}
for _, rid in ipairs(batch.members) do
  local run = fields('run:' .. rid, 'state', 'holder', 'lane', 'alone', 'losses')
  if run.state == 'leased' and run.holder == ARGV[1] then
    int(run.losses, 'losses')
    check_ready(ready_set(run))
    runs[#runs + 1] = {rid, run}
  end
end
check_ready('ready:alone')
call('ZCARD', key('capped'))

drop_batch(batch)
local unstarted, isolated, lost, capped = 0, 0, 0, {}
for _, pair in ipairs(runs) do
  local rid, run = pair[1], pair[2]
  local name, at, state = key('run:' .. rid), now, 'ready'
  if not batch.token then
    unstarted, at = unstarted + 1, batch.since[rid]
  elseif batch.alone ~= '1' then
    isolated, run.alone = isolated + 1, '1'
  else
    lost = lost + 1
    run.losses = text(tonumber(run.losses) + 1)
    if tonumber(run.losses) >= cap then state = 'capped' end
  end
  call('HSET', name, 'state', state, 'holder', '0', 'alone', run.alone, 'losses', run.losses)
  if state == 'ready' then
    make_ready(rid, run, at)
  else
    call('ZADD', key('capped'), text(now), rid)
    capped[#capped + 1] = rid
  end
end
return {'ok', unstarted, isolated, lost, unpack(capped)}
