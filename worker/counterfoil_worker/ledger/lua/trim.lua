#!lua flags=allow-oom
-- needs bodies evidence
-- Drop an event's bodies (set `kept`) or all that is left of it (set `marked`), when its age has
-- come and its runs are all concluded. Tombstones stay.
-- ARGV  set eid age
-- Returns  1 when something was dropped, 0 when it is too early
local LOOK_AGAIN_MS = 60000
local set, eid, age, now = ARGV[1], ARGV[2], int(ARGV[3], 'age'), now_ms()
local since = score(set, eid)
if not since or since > now - age then return 0 end

local event, runs, open = hash('ev:' .. eid), {}, false
for rid in string.gmatch(event.runs or '', '%S+') do
  local run = hash('run:' .. rid)
  runs[rid] = run
  open = open or (run.state ~= nil and run.state ~= 'concluded')
end
local conflicts = {}
for field in pairs(event) do conflicts[#conflicts + 1] = string.match(field, '^c:(.*)$') end
call('ZCARD', key('marked'))
call('ZCARD', key('kept'))
if open then
  call('ZADD', key(set), text(now - age + LOOK_AGAIN_MS), eid)
  return 0
end

local function drop(bodies)
  for _, digest in ipairs(bodies) do
    if int(call('GET', key('refs:' .. digest)), 'refs') > 1 then
      call('DECR', key('refs:' .. digest))
    elseif call('DEL', key('refs:' .. digest)) == 0 then
      call('DEL', key('body:' .. digest))
    end
  end
end

if set == 'marked' then
  for _, digest in ipairs(conflicts) do check_body(digest) end
  for _, run in pairs(runs) do
    for _, item in ipairs(rests_of(run)) do call('ZCARD', key('rests:' .. item)) end
  end
  for rid, run in pairs(runs) do
    for _, item in ipairs(rests_of(run)) do call('ZREM', key('rests:' .. item), rid) end
    call('DEL', key('run:' .. rid))
  end
  drop(conflicts) -- of conflicts that came after the bodies had gone
  call('DEL', key('ev:' .. eid))
  call('ZREM', key('marked'), eid)
  return 1
end

local bodies = {event.event, unpack(conflicts)}
for _, run in pairs(runs) do
  for _, layer in ipairs(LAYERS) do
    bodies[#bodies + 1] = run['in:' .. layer]
    bodies[#bodies + 1] = run['rc:' .. layer]
  end
end
for _, digest in ipairs(bodies) do check_body(digest) end

drop(bodies)
call('ZADD', key('marked'), text(since), eid)
call('ZREM', key('kept'), eid)
return 1
