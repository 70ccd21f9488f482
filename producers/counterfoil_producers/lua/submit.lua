#!lua
-- Adds events to an inbox while it holds fewer than its bound, in order, and stops at the first
-- that does not fit: what is left out is always the end of what was sent.
--
-- KEYS[1]    the inbox, a stream
-- ARGV[1]    the bound, in entries
-- ARGV[2..]  events, UTF-8 JSON
-- Returns    the entry ids of those that were added
local room = tonumber(ARGV[1]) - redis.call('XLEN', KEYS[1])
local added = {}
for number = 2, #ARGV do
  if #added >= room then
    break
  end
  added[#added + 1] = redis.call('XADD', KEYS[1], '*', 'event', ARGV[number])
end
return added
