#!lua flags=allow-oom
-- needs ids entries
-- Forget the answers to entries below `low`; entries below it are stale from now on.
-- ARGV  lane low
-- Returns  1 when `low` moved up, else 0
local lane, low = ARGV[1], ARGV[2]

local old = call('GET', key('low:' .. lane))
local moved = not old or below(old, low)
if old and not moved then low = old end
-- An entry with an id of the future, which any producer can add, must not make all later ones stale.
local now = text(now_ms()) .. '-0'
if below(now, low) then low = now end
local forget = {}
for _, entry in ipairs(call('HKEYS', key('memo:' .. lane))) do
  if below(entry, low) then forget[#forget + 1] = entry end
end

call('SET', key('low:' .. lane), low)
for i = 1, #forget, 500 do
  call('HDEL', key('memo:' .. lane), unpack(forget, i, math.min(i + 499, #forget)))
end
return moved and 1 or 0
