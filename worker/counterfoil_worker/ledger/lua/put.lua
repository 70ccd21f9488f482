#!lua
-- Store a shared object of a tenant and bind a name to it, in one step.
-- KEYS[1] obj:DIGEST  KEYS[2] names:KIND (hash)  KEYS[3] kind:KIND (set of digests)
-- ARGV  digest body name ('' for none)
-- Returns  1, or 0 when the name is bound to other content
local call = redis.call
local digest, name = ARGV[1], ARGV[3]
local bound = call('HGET', KEYS[2], name)
if name ~= '' and bound and bound ~= digest then return 0 end
call('SCARD', KEYS[3])

call('SETNX', KEYS[1], ARGV[2])
call('SADD', KEYS[3], digest)
if name ~= '' then call('HSET', KEYS[2], name, digest) end
return 1
