-- What every script of a partition starts with. The loader puts it behind the script's first line,
-- and after it the parts that the script's second line needs: `_bodies.lua` for `bodies`.
--
-- KEYS[1]   cf:{tenant:p}:acct   one declared key; the others are built from its tag (same slot)
--
--   acct                 hash    counters                 lanes            set of lanes ever used
--   ev:EID               hash    event, runs, c:DIGEST for each conflict (result digest, id)
--   run:RID              hash    source id eid event contract policy profile revision supersedes next
--                                home lane state holder alone losses size as_of basis deadline ended
--                                result result_digest outcome in:LAYER rc:LAYER oc:LAYER rest:N
--   body:DIGEST          string  tagged bytes             refs:DIGEST      further namings
--   ready:LANE           zset    rid by the ms it became ready; ready:alone for suspects
--   waiting deadlines capped leases                       zset    by ms
--   batch:N              hash    by token alone left lane, and each member with its ready ms
--   tokens               hash    lease token -> N         seq              last N
--   tomb                 hash    withdrawn items          rests:ITEM       zset of rids
--   memo:LANE            hash    entry id -> answer       low:LANE         entry id
--   kept marked          zset    eid by age: with bodies; markers only
--   gone:EID             hash    at by reason runs digests: note of an erasure
--   erased               zset    eid by the ms of its erasure
--   marks                zset    marks of grace           results dead     streams
--
-- Ids are short: a digest without `sha256:`, any other text with `=` in front.
-- Every script reads and checks (types included) before its first write.

local call = redis.call
local unpack = unpack or table.unpack
local ROOT = string.match(KEYS[1], '^(.*:)acct$')
local LAYERS = {'structured', 'semantic', 'behavior'}

local function key(name)
  return ROOT .. name
end

local function corrupt(what)
  error('CORRUPT ' .. what)
end

local function text(number)
  return string.format('%.0f', number)
end

local function int(value, what)
  if not value then return 0 end
  if not string.match(value, '^%-?%d+$') then corrupt(what .. ' is not a whole number') end
  return tonumber(value)
end

-- Scores come back as 1.79e+12 from some servers: read them as numbers, write them as digits.
local function score(set, member)
  local value = call('ZSCORE', key(set), member)
  return value and tonumber(value)
end

local function now_ms()
  local time = call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function hash(name)
  local flat, result = call('HGETALL', key(name)), {}
  for i = 1, #flat, 2 do result[flat[i]] = flat[i + 1] end
  return result
end

local function fields(name, ...)
  local values, result = call('HMGET', key(name), ...), {}
  for i, field in ipairs({...}) do result[field] = values[i] or nil end
  return result
end

local function check_counters(...)
  for i, value in ipairs(call('HMGET', key('acct'), ...)) do
    int(value, 'the counter ' .. select(i, ...))
  end
end

local function count(counter)
  call('HINCRBY', key('acct'), counter, 1)
end
