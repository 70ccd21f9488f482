-- What every script of a partition starts with; the loader puts it behind the script's first line.
--
-- KEYS[1]   cf:{tenant:p}:acct   one declared key; the others are built from its tag (same slot)
--
--   acct                 hash    counters                 lanes            set of lanes ever used
--   ev:EID               hash    event, time, runs, c:DIGEST for each conflict
--   run:RID              hash    eid event contract policy revision supersedes next home lane state
--                                holder alone losses size as_of basis deadline ended result
--                                result_digest in:LAYER rc:LAYER oc:LAYER rest:N
--   body:DIGEST          string  tagged bytes             refs:DIGEST      further namings
--   ready:LANE           zset    rid by the ms it became ready; ready:alone for suspects
--   waiting deadlines capped leases                       zset    by ms
--   batch:N              hash    by token alone left, and each member with its ready ms
--   tokens               hash    lease token -> N         seq              last N
--   tomb                 hash    withdrawn items          rests:ITEM       zset of rids
--   memo:LANE            hash    entry id -> answer       low:LANE         entry id
--   kept marked          zset    eid by age: with bodies; markers only
--   marks                zset    marks of grace           results dead     streams
--
-- Ids are short: a digest without `sha256:`, any other text with `=` in front.
-- Every script reads and checks (types included) before its first write.

local call = redis.call
local unpack = unpack or table.unpack
local ROOT = string.match(KEYS[1], '^(.*:)acct$')
local LAYERS = {'structured', 'semantic', 'behavior'}

local function key(name)
  return ROOT .. name
end

local function corrupt(what)
  error('CORRUPT ' .. what)
end

local function text(number)
  return string.format('%.0f', number)
end

local function int(value, what)
  if not value then return 0 end
  if not string.match(value, '^%-?%d+$') then corrupt(what .. ' is not a whole number') end
  return tonumber(value)
end

-- Scores come back as 1.79e+12 from some servers: read them as numbers, write them as digits.
local function score(set, member)
  local value = call('ZSCORE', key(set), member)
  return value and tonumber(value)
end

local function now_ms()
  local time = call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function hash(name)
  local flat, result = call('HGETALL', key(name)), {}
  for i = 1, #flat, 2 do result[flat[i]] = flat[i + 1] end
  return result
end

local function fields(name, ...)
  local values, result = call('HMGET', key(name), ...), {}
  for i, field in ipairs({...}) do result[field] = values[i] or nil end
  return result
end

-- Counters ------------------------------------------------------------------------------------

local function check_counters(...)
  for i, value in ipairs(call('HMGET', key('acct'), ...)) do
    int(value, 'the counter ' .. select(i, ...))
  end
end

local function count(counter)
  call('HINCRBY', key('acct'), counter, 1)
end

-- Bodies: immutable, counted beyond their first naming ----------------------------------------

local function check_body(digest)
  if call('EXISTS', key('body:' .. digest)) == 1 then
    int(call('GET', key('refs:' .. digest)), 'refs:' .. digest)
  end
end

local function store_body(digest, body)
  if call('SETNX', key('body:' .. digest), body) == 0 then call('INCR', key('refs:' .. digest)) end
end

-- Where runs stand -----------------------------------------------------------------------------

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

-- A batch without its members, or nil. `left` counts the members.
local function batch_head(number)
  local batch = fields('batch:' .. number, 'by', 'token', 'alone', 'left')
  if not batch.left then return nil end
  batch.left = int(batch.left, 'left of batch ' .. number)
  batch.number = number
  call('ZCARD', key('leases'))
  call('HLEN', key('tokens'))
  return batch
end

local BATCH_FIELDS = {by = true, token = true, alone = true, left = true}

-- A batch with its members in ready order, or nil.
local function whole_batch(number)
  local batch = batch_head(number)
  if not batch then return nil end
  local since, members = {}, {}
  for field, value in pairs(hash('batch:' .. number)) do
    if not BATCH_FIELDS[field] then
      since[field] = int(value, 'a member of batch ' .. number)
      members[#members + 1] = field
    end
  end
  table.sort(members, function(a, b)
    if since[a] ~= since[b] then return since[a] < since[b] end
    return a < b
  end)
  batch.members, batch.since = members, since
  return batch
end

local function drop_batch(batch)
  call('DEL', key('batch:' .. batch.number))
  call('ZREM', key('leases'), batch.number)
  if batch.by then call('HDEL', key('tokens'), batch.by) end
end

local function leave_batch(rid, batch)
  batch.left = batch.left - 1
  if batch.left <= 0 then return drop_batch(batch) end
  call('HDEL', key('batch:' .. batch.number), rid)
  call('HSET', key('batch:' .. batch.number), 'left', text(batch.left))
end

-- What `depart` needs, read and checked.
local function check_depart(run)
  if run.state == 'leased' then return batch_head(run.holder) end
  call('ZCARD', key(run.state == 'ready' and ready_set(run) or run.state))
  return nil
end

local function depart(rid, run, batch)
  if run.state == 'leased' then
    if batch then leave_batch(rid, batch) end
  else
    call('ZREM', key(run.state == 'ready' and ready_set(run) or run.state), rid)
  end
end

local function past_deadline(run, now)
  return run.deadline ~= nil and int(run.deadline, 'deadline') <= now
end

-- Evidence --------------------------------------------------------------------------------------

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

-- The next revision of a concluded run -------------------------------------------------------------

local function check_reopen(run, rid)
  call('HLEN', key('ev:' .. run.eid))
  call('ZCARD', key('capped'))
  check_ready('ready:' .. run.home)
  check_counters('reopened')
  return call('EXISTS', key('run:' .. rid)) == 0
end

-- Opens a run that supersedes `old`; without the event's bytes it can only be ended, so it is capped.
local function reopen(old_rid, old, rid, revision, result, now)
  local body = call('EXISTS', key('body:' .. old.event)) == 1
  local run = {
    'eid', old.eid, 'event', old.event, 'revision', revision, 'supersedes', result,
    'home', old.home, 'lane', old.home, 'state', body and 'ready' or 'capped', 'holder', '0',
    'alone', '0', 'losses', '0', 'size', old.size, 'as_of', old.as_of, 'basis', old.basis,
  }
  for _, field in ipairs({'contract', 'policy'}) do
    if old[field] then
      run[#run + 1] = field
      run[#run + 1] = old[field]
    end
  end
  call('HSET', key('run:' .. rid), unpack(run))
  if body then
    make_ready(rid, {lane = old.home}, now)
  else
    call('ZADD', key('capped'), text(now), rid)
  end
  local runs = call('HGET', key('ev:' .. old.eid), 'runs')
  call('HSET', key('ev:' .. old.eid), 'runs', runs .. ' ' .. rid)
  call('HSET', key('run:' .. old_rid), 'next', rid)
  count('reopened')
end

-- Inbox entries ----------------------------------------------------------------------------------

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

