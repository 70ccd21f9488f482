#!lua
-- needs bodies ready ids entries
-- Settle an inbox entry that has an identity: new, duplicate, conflict or stale.
-- ARGV  lane entry eid event body size time horizon  rid contract policy revision supersedes
--       as_of basis  conflict_digest conflict_result  source id  profile
-- Returns  the answer: a status, and for new and duplicate a space and the rid; or `past` and
--          nothing is settled: the caller makes it a dead letter, with the bytes as they came
local lane, entry, eid, event = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local rid = ARGV[9]

local answer = known_entry(lane, entry)
if answer then return answer end
-- Erased: whatever comes under that identity is not stored, not run, and answered all the same.
local erased = call('HGET', key('gone:' .. eid), 'runs')
if erased then
  check_counters('received', 'duplicates')
  return settle(lane, entry, 'duplicates', 'duplicate ' .. string.match(erased, '^%S+'))
end
local now, time = now_ms(), int(ARGV[7], 'time')
if time < now - int(ARGV[8], 'horizon') then return 'past' end

local known = fields('ev:' .. eid, 'event', 'runs', 'c:' .. event)
check_counters('received', 'admitted', 'duplicates', 'conflicts')
if known.event == event or known['c:' .. event] then
  return settle(lane, entry, 'duplicates', 'duplicate ' .. string.match(known.runs, '^%S+'))
end

if known.event then
  call('XLEN', key('results'))
  check_body(event)
  local id = call('XADD', key('results'), '*', 'result', ARGV[17])
  call('HSET', key('ev:' .. eid), 'c:' .. event, ARGV[16] .. ' ' .. id)
  store_body(event, ARGV[5])
  return settle(lane, entry, 'conflicts', 'conflict')
end

if call('HLEN', key('run:' .. rid)) > 0 then corrupt('run ' .. rid .. ' has no event') end
check_body(event)
check_ready('ready:' .. lane)
call('ZCARD', key('kept'))

local run = {
  'source', ARGV[18], 'id', ARGV[19], 'eid', eid, 'event', event, 'revision', ARGV[12], 'home', lane, 'lane', lane, 'state', 'ready',
  'holder', '0', 'alone', '0', 'losses', '0', 'size', ARGV[6],
  'as_of', ARGV[14] == '' and text(now) or ARGV[14], 'basis', ARGV[15],
}
for field, value in pairs({contract = ARGV[10], policy = ARGV[11], supersedes = ARGV[13],
    profile = ARGV[20]}) do
  if value ~= '' then
    run[#run + 1] = field
    run[#run + 1] = value
  end
end

call('HSET', key('ev:' .. eid), 'event', event, 'runs', rid)
store_body(event, ARGV[5])
call('HSET', key('run:' .. rid), unpack(run))
make_ready(rid, {lane = lane}, now)
call('ZADD', key('kept'), text(math.max(now, time)), eid)
return settle(lane, entry, 'admitted', 'new ' .. rid)
