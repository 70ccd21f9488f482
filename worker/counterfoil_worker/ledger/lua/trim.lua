#!lua flags=allow-oom
-- needs bodies evidence events
-- Drop an event's bodies (set `kept`) or all that is left of it (set `marked`), when its age has
-- come and its runs are all concluded. Tombstones stay.
-- ARGV  set eid age
-- Returns  1 when something was dropped, 0 when it is too early
local LOOK_AGAIN_MS = 60000
local set, eid, age, now = ARGV[1], ARGV[2], int(ARGV[3], 'age'), now_ms()
local since = score(set, eid)
if not since or since > now - age then return 0 end

local event, runs, open, conflicts = whole_event(eid)
call('ZCARD', key('marked'))
call('ZCARD', key('kept'))
if open then
  call('ZADD', key(set), text(now - age + LOOK_AGAIN_MS), eid)
  return 0
end
check_bodies(conflicts)

if set == 'marked' then
  for _, run in pairs(runs) do
    for _, item in ipairs(rests_of(run)) do call('ZCARD', key('rests:' .. item)) end
  end
  for rid, run in pairs(runs) do
    for _, item in ipairs(rests_of(run)) do call('ZREM', key('rests:' .. item), rid) end
    call('DEL', key('run:' .. rid))
  end
  drop_bodies(conflicts) -- of conflicts that came after the bodies had gone
  call('DEL', key('ev:' .. eid))
  call('ZREM', key('marked'), eid)
  return 1
end

local bodies = bodies_of(event, runs)
check_bodies(bodies)

drop_bodies(bodies)
drop_bodies(conflicts)
call('ZADD', key('marked'), text(since), eid)
call('ZREM', key('kept'), eid)
return 1
