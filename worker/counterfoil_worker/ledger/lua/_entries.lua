-- Inbox entries: settled once, the first answer remembered; needs ids.

-- The first answer to an entry, `stale`, or nil when it is new to this partition.
local function known_entry(lane, entry)
  local answer = call('HGET', key('memo:' .. lane), entry)
  if answer then return answer end
  local low = call('GET', key('low:' .. lane))
  if low and below(entry, low) then return 'stale' end
  return nil
end

local function settle(lane, entry, counter, answer)
  count('received')
  count(counter)
  call('HSET', key('memo:' .. lane), entry, answer)
  return answer
end
