-- An event with its runs, and the bodies that it names; needs bodies.

-- The event's fields, its runs by id, whether one is open, digests of its conflicts.
local function whole_event(eid)
  local event, runs, open, conflicts = hash('ev:' .. eid), {}, false, {}
  for rid in string.gmatch(event.runs or '', '%S+') do
    local run = hash('run:' .. rid)
    runs[rid] = run
    open = open or (run.state ~= nil and run.state ~= 'concluded')
  end
  for field in pairs(event) do conflicts[#conflicts + 1] = string.match(field, '^c:(.*)$') end
  return event, runs, open, conflicts
end

-- What the event itself and its runs name.
local function bodies_of(event, runs)
  local bodies = {event.event}
  for _, run in pairs(runs) do
    for _, layer in ipairs(LAYERS) do
      bodies[#bodies + 1] = run['in:' .. layer]
      bodies[#bodies + 1] = run['rc:' .. layer]
    end
  end
  return bodies
end

local function check_bodies(digests)
  for _, digest in ipairs(digests) do check_body(digest) end
end

-- Take one naming of each back; the last one takes the bytes with it.
local function drop_bodies(digests)
  for _, digest in ipairs(digests) do
    if int(call('GET', key('refs:' .. digest)), 'refs') > 1 then
      call('DECR', key('refs:' .. digest))
    elseif call('DEL', key('refs:' .. digest)) == 0 then
      call('DEL', key('body:' .. digest))
    end
  end
end
