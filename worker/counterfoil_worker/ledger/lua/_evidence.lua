-- What a run rests on, and what of it is withdrawn.

local function rests_of(run)
  local rests, i = {}, 1
  while run['rest:' .. i] do
    rests[i] = run['rest:' .. i]
    i = i + 1
  end
  return rests
end

-- Which of the items are withdrawn, in their order.
local function withdrawn(items)
  local found = {}
  if #items == 0 then return found end
  for i, mark in ipairs(call('HMGET', key('tomb'), unpack(items))) do
    if mark then found[#found + 1] = items[i] end
  end
  return found
end
