#!lua
-- needs ready reopen
-- Take one concluded run out of the index of a withdrawn item, and open its next revision when it
-- is the latest.
-- ARGV  item rid next_rid next_revision
-- Returns  how many runs are left in the index
local item, rid, next_rid = ARGV[1], ARGV[2], ARGV[3]
call('HLEN', key('tomb'))
call('ZCARD', key('rests:' .. item))
local run = hash('run:' .. rid)
local latest = run.state == 'concluded' and not run.next
  and int(ARGV[4], 'revision') == int(run.revision, 'revision') + 1
  and call('HLEN', key('gone:' .. run.eid)) == 0
local opens = latest and check_reopen(run, next_rid)

call('HSETNX', key('tomb'), item, '1')
if opens then reopen(rid, run, next_rid, ARGV[4], run.result, now_ms()) end
call('ZREM', key('rests:' .. item), rid)
return call('ZCARD', key('rests:' .. item))
