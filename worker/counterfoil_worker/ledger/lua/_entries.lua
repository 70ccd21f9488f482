-- Inbox entries: settled once, the first answer remembered.

local function padded(digits)
  return string.rep('0', 20 - #digits) .. digits
end

-- Order of stream ids `ms-seq`: both halves are 64 bits wide, beyond what a number holds.
local function below(a, b)
  local a_ms, a_seq = string.match(a, '^(%d+)%-(%d+)$')
  local b_ms, b_seq = string.match(b, '^(%d+)%-(%d+)$')
  if not a_ms or not b_ms then corrupt('an entry id is not two numbers') end
  if a_ms ~= b_ms then return padded(a_ms) < padded(b_ms) end
  return padded(a_seq) < padded(b_seq)
end

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
