-- Ids of stream entries.

local function padded(digits)
  return string.rep('0', 20 - #digits) .. digits
end

-- Order of stream ids `ms-seq`: both halves are 64 bits wide, beyond what a number holds.
local function below(a, b)
  local a_ms, a_seq = string.match(a, '^(%d+)%-(%d+)$')
  local b_ms, b_seq = string.match(b, '^(%d+)%-(%d+)$')
  if not a_ms or not b_ms then corrupt('an entry id is not two numbers') end
  if a_ms ~= b_ms then return padded(a_ms) < padded(b_ms) end
  return padded(a_seq) < padded(b_seq)
end
