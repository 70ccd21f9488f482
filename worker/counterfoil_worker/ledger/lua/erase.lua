#!lua flags=allow-oom
-- needs bodies evidence events removal
-- Erase an event whose runs are all concluded: its bodies, its results and its name go, its digests
-- stay, and a note says who asked and why. The note outlives the markers: its identity never runs again.
-- ARGV  eid by reason
-- Returns  {'ok', results removed}, {'erased'}, {'open'} or {'unknown'}
local eid, by, reason = ARGV[1], ARGV[2], ARGV[3]
local note = 'gone:' .. eid

if call('HLEN', key(note)) > 0 then return {'erased'} end
local event, runs, open, conflicts = whole_event(eid)
if not event.event then return {'unknown'} end
if open then return {'open'} end

local bodies, kept_since, now = bodies_of(event, runs), score('kept', eid), now_ms()
check_bodies(bodies)
check_bodies(conflicts)
local results, digests = {}, {}
for i, digest in ipairs(bodies) do digests[i] = digest end
for _, run in pairs(runs) do
  results[#results + 1] = run.result
  digests[#digests + 1] = run.result_digest
  for _, item in ipairs(rests_of(run)) do call('ZCARD', key('rests:' .. item)) end
end
for field, value in pairs(event) do
  -- Of a conflict: the digest of its result, and where that stands.
  if string.match(field, '^c:') then results[#results + 1] = string.match(value, ' (%S+)$') end
end
call('XLEN', key('results'))
call('ZCARD', key('marked'))
call('ZCARD', key('erased'))

local removed = remove_entries('results', results)
-- Past retention what the runs named is gone already; the digests may be another event's by now.
if kept_since then drop_bodies(bodies) end
drop_bodies(conflicts)
for rid, run in pairs(runs) do
  for _, item in ipairs(rests_of(run)) do call('ZREM', key('rests:' .. item), rid) end
  call('HSET', key('run:' .. rid), 'source', '', 'id', '')
end
call('HSET', key(note), 'at', text(now), 'by', by, 'reason', reason, 'runs', event.runs,
  'digests', table.concat(digests, ' '))
call('ZADD', key('erased'), text(now), eid)
if kept_since then
  call('ZADD', key('marked'), text(kept_since), eid)
  call('ZREM', key('kept'), eid)
end
return {'ok', removed}
