-- Taking a run out of the set or batch that holds it; needs ready and batches.

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
