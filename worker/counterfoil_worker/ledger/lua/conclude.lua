#!lua
-- needs ready batches depart evidence reopen
-- The only way into the results stream: terminal marker and result in one step, once per run.
-- ARGV  rid reason outcome  structured semantic behavior ('' for a layer without receipt)
--       digest result  next_rid next_revision  dead_code dead_detail event ('' code: no dead letter)
-- Returns  {'ok', id}, {'concluded', id, digest}, {'changed'}, {'refused'}, {'revoked', item...}
--          or {'not_waiting'}
local rid, reason, outcome = ARGV[1], ARGV[2], ARGV[3]
local next_rid, poison = ARGV[9], ARGV[2] == 'cap' and ARGV[11] ~= ''

-- What the last receipt makes of the run; a word that is not here ends nothing.
local FINAL = {
  structured = {malformed = 'malformed', rejected = 'rejected', refused = 'refused',
    indeterminate = 'indeterminate'},
  semantic = {malformed = 'malformed', rejected = 'rejected', review = 'review',
    indeterminate = 'indeterminate'},
  behavior = {completed = 'accepted', not_applicable = 'accepted', blocked = 'rejected',
    incomplete = 'rejected', needs_approval = 'review', malformed = 'malformed',
    indeterminate = 'indeterminate'},
}

-- 1. Concluded before.
local run = hash('run:' .. rid)
if not run.state or run.state == 'concluded' then
  return {'concluded', run.result or '', run.result_digest or ''}
end

-- 2. The receipts named are the ones stored; the last one speaks.
local verdict
for i, layer in ipairs(LAYERS) do
  if (run['rc:' .. layer] or '') ~= ARGV[3 + i] then return {'changed'} end
  local said = run['oc:' .. layer]
  if said then verdict = FINAL[layer][said] end
end

-- 3. By reason.
local now, rests = now_ms(), rests_of(run)
local gone = withdrawn(rests)
if reason == 'normal' then
  if outcome ~= verdict then return {'refused'} end
  if outcome == 'accepted' and not (run['oc:structured'] == 'accepted'
      and run['oc:semantic'] == 'accepted') then
    return {'refused'}
  end
  if #gone > 0 then return {'revoked', unpack(gone)} end
elseif reason == 'revoked' then
  local follows = int(ARGV[10], 'revision') == int(run.revision, 'revision') + 1
  if #gone == 0 or outcome ~= 'indeterminate' or next_rid == '' or not follows then
    return {'refused'}
  end
  if not check_reopen(run, next_rid) then return {'refused'} end
elseif reason == 'deadline' then
  if outcome ~= 'review' and outcome ~= 'indeterminate' then return {'refused'} end
  local waits = run.state == 'waiting' or (run.state == 'ready' and run.lane == 'judge')
  if not waits or run['in:semantic'] or run.ended or not past_deadline(run, now) then
    return {'not_waiting'}
  end
elseif reason == 'cap' then
  if outcome ~= 'indeterminate' or run.state ~= 'capped' then return {'refused'} end
else
  return {'refused'}
end

local batch = check_depart(run)
local index = {}
if reason ~= 'revoked' then
  local tombed = {}
  for _, item in ipairs(gone) do tombed[item] = true end
  for _, item in ipairs(rests) do
    call('ZCARD', key('rests:' .. item))
    if not tombed[item] then index[#index + 1] = item end
  end
end
check_counters('concluded', 'poisoned')
call('XLEN', key('results'))
call('ZCARD', key('deadlines'))
if poison then call('XLEN', key('dead')) end

-- 4. Publish, then mark.
local id = call('XADD', key('results'), '*', 'result', ARGV[8])
call('HSET', key('run:' .. rid), 'state', 'concluded', 'holder', '0', 'result', id,
  'result_digest', ARGV[7], 'outcome', outcome)
depart(rid, run, batch)
call('ZREM', key('deadlines'), rid)
for _, item in ipairs(index) do call('ZADD', key('rests:' .. item), '0', rid) end
count('concluded')
if reason == 'revoked' then reopen(rid, run, next_rid, ARGV[10], id, now) end
if poison then
  call('XADD', key('dead'), '*', 'code', ARGV[11], 'detail', ARGV[12], 'event', ARGV[13])
  count('poisoned')
end
return {'ok', id}
