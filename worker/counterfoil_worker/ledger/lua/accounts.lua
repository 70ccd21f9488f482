#!lua flags=no-writes
-- The counters, and what the sets hold, in one step.
-- Returns  received admitted duplicates conflicts dead reopened reruns concluded poisoned
--          ready leased waiting capped
local answer = call('HMGET', key('acct'), 'received', 'admitted', 'duplicates', 'conflicts', 'dead',
  'reopened', 'reruns', 'concluded', 'poisoned')
for i = 1, #answer do answer[i] = int(answer[i], 'a counter') end

local ready = call('ZCARD', key('ready:alone'))
for _, lane in ipairs(call('SMEMBERS', key('lanes'))) do
  ready = ready + call('ZCARD', key('ready:' .. lane))
end
local leased = 0
for _, number in ipairs(call('ZRANGE', key('leases'), 0, -1)) do
  leased = leased + int(call('HGET', key('batch:' .. number), 'left'), 'left')
end
answer[#answer + 1] = ready
answer[#answer + 1] = leased
answer[#answer + 1] = call('ZCARD', key('waiting'))
answer[#answer + 1] = call('ZCARD', key('capped'))
return answer
