#!lua
-- needs batches
-- Take ready runs of a lane as a batch whose lease ends after the queue time.
-- ARGV  lane runs max_bytes queue_ms bound token
-- Returns  {'ok', batch, rid...} in ready order, {'full'} or {'empty'}
local lane, token = ARGV[1], ARGV[6]
local ready = 'ready:' .. lane

local function answer(batch)
  return {'ok', batch.number, unpack(batch.members)}
end

-- Calls to verifiers may hang: batches of the judge lane and all others do not shut each other out.
local function live_leases()
  local count = 0
  for _, number in ipairs(call('ZRANGE', key('leases'), 0, -1)) do
    local judges = call('HGET', key('batch:' .. number), 'lane') == 'judge'
    if judges == (lane == 'judge') then count = count + 1 end
  end
  return count
end

local given = call('HGET', key('tokens'), token)
if given then return answer(whole_batch(given)) end
if live_leases() >= int(ARGV[5], 'bound') then return {'full'} end

local limit = lane == 'alone' and 1 or int(ARGV[2], 'runs')
local found = call('ZRANGE', key(ready), 0, limit - 1, 'WITHSCORES')
if #found == 0 then return {'empty'} end
local number = text(int(call('GET', key('seq')), 'seq') + 1)
if call('HLEN', key('batch:' .. number)) > 0 then corrupt('batch ' .. number .. ' is there') end

local members, values, bytes, max_bytes = {}, {}, 0, int(ARGV[3], 'max_bytes')
for i = 1, #found, 2 do
  local run = fields('run:' .. found[i], 'state', 'size')
  if run.state ~= 'ready' then corrupt('run ' .. found[i] .. ' stands in ' .. ready) end
  bytes = bytes + int(run.size, 'size')
  if i > 1 and bytes > max_bytes then break end
  members[#members + 1] = found[i]
  values[#values + 1] = found[i]
  values[#values + 1] = text(tonumber(found[i + 1]))
end

call('SET', key('seq'), number)
call('HSET', key('batch:' .. number), 'by', token, 'alone', lane == 'alone' and '1' or '0',
  'left', text(#members), 'lane', lane)
call('HSET', key('batch:' .. number), unpack(values))
call('ZADD', key('leases'), text(now_ms() + int(ARGV[4], 'queue_ms')), number)
call('HSET', key('tokens'), token, number)
for _, rid in ipairs(members) do
  call('HSET', key('run:' .. rid), 'state', 'leased', 'holder', number)
end
call('ZREM', key(ready), unpack(members))
return answer({number = number, members = members})
