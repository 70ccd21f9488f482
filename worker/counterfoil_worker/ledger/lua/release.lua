#!lua
-- needs ready batches
-- Give runs of a batch back: ready in a lane now, or waiting.
-- ARGV  batch token lane due_ms deadline_ms rid...       ('' for no due time, no deadline)
-- Returns  1 or 0 for each rid: whether it was this batch's
local lane = ARGV[3]
local batch = batch_head(ARGV[1])
local ours = batch and batch.token == ARGV[2]
local now = now_ms()
local due = ARGV[4] ~= '' and now + int(ARGV[4], 'due_ms')
local deadline = ARGV[5] ~= '' and now + int(ARGV[5], 'deadline_ms')

check_ready('ready:' .. lane)
call('ZCARD', key('waiting'))
call('ZCARD', key('deadlines'))
local runs, answers = {}, {}
for i = 6, #ARGV do
  local rid = ARGV[i]
  local run = fields('run:' .. rid, 'state', 'holder', 'lane', 'deadline', 'in:semantic')
  local held = ours and not runs[rid] and run.state == 'leased' and run.holder == ARGV[1]
  if held then
    int(run.deadline, 'deadline')
    runs[rid] = run
  end
  answers[#answers + 1] = held and 1 or 0
end

for rid, run in pairs(runs) do
  leave_batch(rid, batch)
  -- The lane of suspects keeps a run alone and leaves it in the lane of its work.
  local work_lane = lane == 'alone' and run.lane or lane
  local alone = lane == 'alone' and '1' or '0'
  call('HSET', key('run:' .. rid), 'state', due and 'waiting' or 'ready', 'holder', '0',
    'losses', '0', 'lane', work_lane, 'alone', alone)
  local open = not run['in:semantic']
  local ends = run.deadline and tonumber(run.deadline)
  if lane == 'judge' and deadline and not ends then
    ends = deadline
    call('HSET', key('run:' .. rid), 'deadline', text(ends))
    if open then call('ZADD', key('deadlines'), text(ends), rid) end
  end
  if due then
    call('ZADD', key('waiting'), text(open and ends and math.min(due, ends) or due), rid)
  else
    make_ready(rid, {lane = work_lane, alone = alone}, now)
  end
end
return answers
