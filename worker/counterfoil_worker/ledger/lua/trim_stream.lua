#!lua flags=allow-oom
-- needs ids
-- Remove from a stream what is old enough, and never what a group has yet to acknowledge. One step:
-- a group that is made, or an entry that is delivered, meanwhile is before it or after it.
-- ARGV  stream  grouped_ms alone_ms ('' for ever): ages with groups, and without any  limit
-- Returns  {removed, 1 when there may be more, then for each group that is behind:
--          name, pending, unread (-1: the server does not know), age in ms of its oldest entry}
local stream, limit = key(ARGV[1]), int(ARGV[4], 'limit')
if call('XLEN', stream) == 0 then return {0, 0} end
local now = now_ms()

local function first_id(from)
  local found = call('XRANGE', stream, from, '+', 'COUNT', 1)
  return found[1] and found[1][1]
end

local function lower(a, b)
  if not a or not b then return a or b end
  return below(a, b) and a or b
end

local function age_of(id)
  return math.max(0, now - tonumber(string.match(id, '^%d+')))
end

-- What the groups hold back: what is pending, and what was never delivered.
local groups, held, answer = call('XINFO', 'GROUPS', stream), nil, {0, 0}
for _, flat in ipairs(groups) do
  local group = {}
  for i = 1, #flat, 2 do group[flat[i]] = flat[i + 1] end
  local pending = call('XPENDING', stream, group.name)
  local oldest = lower(pending[2] or nil, first_id('(' .. group['last-delivered-id']))
  if oldest then
    answer[#answer + 1] = group.name
    answer[#answer + 1] = pending[1]
    answer[#answer + 1] = group.lag or -1
    answer[#answer + 1] = age_of(oldest)
  end
  held = lower(held, oldest)
end

local keep_ms = #groups > 0 and ARGV[2] or ARGV[3]
if keep_ms == '' then return answer end
local first_kept = text(math.max(0, now - int(keep_ms, 'age') + 1)) .. '-0'
local cut = lower(held, first_kept)

-- Whole nodes as far as the limit goes; then, when few were left, the rest of one.
local removed, more = call('XTRIM', stream, 'MINID', '~', cut, 'LIMIT', limit), 1
if removed * 2 < limit then
  removed, more = removed + call('XTRIM', stream, 'MINID', '=', cut), 0
end
answer[1], answer[2] = removed, more
return answer
