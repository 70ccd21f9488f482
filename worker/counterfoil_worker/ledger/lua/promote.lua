#!lua
-- needs ready
-- Move waiting runs that are due to their ready sets. A run past its deadline waits for its
-- conclusion instead, unless it can go on: its semantic inputs are fixed, or a receipt ended it.
-- ARGV  limit
-- Returns  how many were moved
local PAGE, PAGES = 200, 20
local limit, now = int(ARGV[1], 'limit'), now_ms()
local due = {}

for page = 0, PAGES - 1 do
  local found = call('ZRANGEBYSCORE', key('waiting'), '-inf', text(now), 'LIMIT', page * PAGE, PAGE)
  for _, rid in ipairs(found) do
    local run = fields('run:' .. rid, 'lane', 'alone', 'deadline', 'in:semantic', 'ended')
    local goes_on = run['in:semantic'] or run.ended or not past_deadline(run, now)
    if #due < limit and goes_on then
      check_ready(ready_set(run))
      due[#due + 1] = {rid, run}
    end
  end
  if #found < PAGE or #due >= limit then break end
end

for _, pair in ipairs(due) do
  call('ZREM', key('waiting'), pair[1])
  call('HSET', key('run:' .. pair[1]), 'state', 'ready')
  make_ready(pair[1], pair[2], now)
end
return #due
