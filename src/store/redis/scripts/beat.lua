#!lua flags=allow-oom
-- Tells a server each half second what it has to know about the store: the time, and whether the keys are still those
-- that it knew. It prolongs the lease of a server that may go on.
-- KEYS: marker, leases
-- ARGV: instance, lease in ms, contract, id of the marker
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local present = redis.call('HMGET', KEYS[1], 'contract', 'born')
if present[1] == ARGV[3] and present[2] == ARGV[4] then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  redis.call('ZADD', KEYS[2], now + tonumber(ARGV[2]), ARGV[1])
end
return { now, present[1] or '', present[2] or '', redis.call('ZCARD', KEYS[2]) }
