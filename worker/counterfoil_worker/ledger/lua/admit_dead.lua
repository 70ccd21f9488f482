#!lua
-- needs ids entries
-- Settle an inbox entry that nobody can be told about: keep it whole in the dead letters.
-- ARGV  lane entry code detail body
-- Returns  the answer: dead, stale, or what the entry was answered before
local lane, entry = ARGV[1], ARGV[2]

local answer = known_entry(lane, entry)
if answer then return answer end
check_counters('received', 'dead')
call('XLEN', key('dead'))

call('XADD', key('dead'), '*', 'code', ARGV[3], 'detail', ARGV[4], 'event', ARGV[5])
return settle(lane, entry, 'dead', 'dead')
