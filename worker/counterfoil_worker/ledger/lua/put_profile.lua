#!lua
-- Put a stored profile in force, unless the tenant is in use with other partitions.
-- KEYS[1] profile (digest)  KEYS[2] partitions  KEYS[3] limits (hash)
-- ARGV  digest partitions max_inbox ('' for no bound)
-- Returns  the number of partitions that is fixed; the profile is in force when it is its own
local call = redis.call
local fixed = call('GET', KEYS[2])
call('HLEN', KEYS[3])
if fixed and fixed ~= ARGV[2] then return tonumber(fixed) end

call('SET', KEYS[1], ARGV[1])
call('SET', KEYS[2], ARGV[2])
if ARGV[3] == '' then
  call('HDEL', KEYS[3], 'max_inbox')
else
  call('HSET', KEYS[3], 'max_inbox', ARGV[3])
end
return tonumber(ARGV[2])
