-- Taking single entries out of a stream.

-- Entries that a group has in hand are acknowledged too: nobody could claim them any more.
local function remove_entries(stream, ids)
  local PAGE, removed = 500, 0
  if #ids == 0 or call('XLEN', key(stream)) == 0 then return 0 end
  for _, flat in ipairs(call('XINFO', 'GROUPS', key(stream))) do
    local group = {}
    for i = 1, #flat, 2 do group[flat[i]] = flat[i + 1] end
    for i = 1, #ids, PAGE do
      call('XACK', key(stream), group.name, unpack(ids, i, math.min(i + PAGE - 1, #ids)))
    end
  end
  for i = 1, #ids, PAGE do
    removed = removed + call('XDEL', key(stream), unpack(ids, i, math.min(i + PAGE - 1, #ids)))
  end
  return removed
end
