#!lua flags=allow-oom
-- Lets a server take part if it serves the same contract as the other servers with these keys. The marker names that
-- contract. If no server uses the keys, the contract may be replaced: by the same one with other options, or by one for
-- which every account was found valid. If accounts exist without a marker, a server may write the marker again after it
-- has served these accounts, or has found them valid.
-- KEYS: marker, leases, accounts
-- ARGV: instance, lease in ms, format, contract, overlays, options, id of a new marker, contract that may be replaced,
-- whether a lost marker may be written again
local marker, leases = KEYS[1], KEYS[2]
local instance, lease, format, contract = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

redis.call('ZREMRANGEBYSCORE', leases, '-inf', now)
redis.call('ZREM', leases, instance)
local others = redis.call('ZCARD', leases)
local present = redis.call('HMGET', marker, 'format', 'contract')
if not present[1] and (ARGV[9] == '1' or redis.call('EXISTS', KEYS[3]) == 0) then
  redis.call('HSET', marker, 'format', format, 'contract', contract, 'overlays', ARGV[5], 'options', ARGV[6], 'born', ARGV[7])
elseif present[1] == format and others == 0 and (present[2] == contract or present[2] == ARGV[8]) then
  redis.call('HSET', marker, 'contract', contract, 'overlays', ARGV[5], 'options', ARGV[6])
end

local found = redis.call('HMGET', marker, 'format', 'contract', 'overlays', 'options', 'born')
local joined = 0
if found[1] == format and found[2] == contract then
  redis.call('ZADD', leases, now + lease, instance)
  joined = 1
end
for field = 1, 5 do found[field] = found[field] or '' end
return { joined, others, found[1], found[2], found[3], found[4], found[5] }
