-- The next revision of a concluded run; needs ready.

local function check_reopen(run, rid)
  call('HLEN', key('ev:' .. run.eid))
  call('ZCARD', key('capped'))
  check_ready('ready:' .. run.home)
  check_counters('reopened')
  return call('HLEN', key('run:' .. rid)) == 0
end

-- Opens a run that supersedes `old`; without the event's bytes it can only be ended, so it is capped.
local function reopen(old_rid, old, rid, revision, result, now)
  local body = call('EXISTS', key('body:' .. old.event)) == 1
  local run = {
    'source', old.source, 'id', old.id, 'eid', old.eid, 'event', old.event, 'revision', revision, 'supersedes', result,
    'home', old.home, 'lane', old.home, 'state', body and 'ready' or 'capped', 'holder', '0',
    'alone', '0', 'losses', '0', 'size', old.size, 'as_of', old.as_of, 'basis', old.basis,
  }
  for _, field in ipairs({'contract', 'policy', 'profile'}) do
    if old[field] then
      run[#run + 1] = field
      run[#run + 1] = old[field]
    end
  end
  call('HSET', key('run:' .. rid), unpack(run))
  if body then
    make_ready(rid, {lane = old.home}, now)
  else
    call('ZADD', key('capped'), text(now), rid)
  end
  local runs = call('HGET', key('ev:' .. old.eid), 'runs')
  call('HSET', key('ev:' .. old.eid), 'runs', runs .. ' ' .. rid)
  call('HSET', key('run:' .. old_rid), 'next', rid)
  count('reopened')
end
