-- Ready sets, and deadlines.

local function ready_set(run)
  return run.alone == '1' and 'ready:alone' or 'ready:' .. run.lane
end

local function check_ready(set)
  call('ZCARD', key(set))
  call('SCARD', key('lanes'))
end

local function make_ready(rid, run, at)
  call('ZADD', key(ready_set(run)), text(at), rid)
  call('SADD', key('lanes'), run.lane)
end

local function past_deadline(run, now)
  return run.deadline ~= nil and int(run.deadline, 'deadline') <= now
end
