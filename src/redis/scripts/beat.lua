#!lua flags=allow-oom
-- Tells a server each half second the state of the store: the time, whether its keys are still the known ones, and
-- which keys of the registry are lost. It extends the lease of a server that may continue.
-- KEYS: those of the registry, marker, leases
-- ARGV: instance, lease in ms, contract, id of the marker
--include registry.lua
--include losses.lua
local marker, leases = KEYS[12], KEYS[13]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local present = redis.call('HMGET', marker, 'contract', 'born')
if present[1] == ARGV[3] and present[2] == ARGV[4] then
  redis.call('ZREMRANGEBYSCORE', leases, '-inf', now)
  redis.call('ZADD', leases, now + tonumber(ARGV[2]), ARGV[1])
end
return { now, present[1] or '', present[2] or '', redis.call('ZCARD', leases), find_losses() }
