#!lua
-- Adds events to an inbox while it holds fewer than its bound, in order, and stops at the first
-- that does not fit: what is left out is always the end of what was sent.
--
-- KEYS[1]    the inbox, a stream
-- KEYS[2]    the tenant's limits, a hash; an operator's `max_inbox` counts where it is smaller
-- ARGV[1]    the bound, in entries
-- ARGV[2..]  events, UTF-8 JSON
-- Returns    the entry ids of those that were added
local bound = tonumber(ARGV[1])
local limit = tonumber(redis.call('HGET', KEYS[2], 'max_inbox') or '')
if limit and limit < bound then
  bound = limit
end
local room = bound - redis.call('XLEN', KEYS[1])
local added = {}
for number = 2, #ARGV do
  if #added >= room then
    break
  end
  added[#added + 1] = redis.call('XADD', KEYS[1], '*', 'event', ARGV[number])
end
return added
