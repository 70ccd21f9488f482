-- Bodies: immutable, and counted beyond their first naming.

local function check_body(digest)
  if call('EXISTS', key('body:' .. digest)) == 1 then
    int(call('GET', key('refs:' .. digest)), 'refs:' .. digest)
  end
end

local function store_body(digest, body)
  if call('SETNX', key('body:' .. digest), body) == 0 then call('INCR', key('refs:' .. digest)) end
end
