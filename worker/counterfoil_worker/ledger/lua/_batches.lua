-- Batches: a head, members with the time they became ready, and their end.

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

local BATCH_FIELDS = {by = true, token = true, alone = true, left = true, lane = true}

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
