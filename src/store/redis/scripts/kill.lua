#!lua flags=allow-oom
-- Deletes the data of an account. From now on, nobody can enter it. The names of its snapshots stay until the snapshots
-- are deleted, whose keys the caller learns from them.
--include step.lua
local SNAPSHOTS = KEYS[#KEYS]
local operation, attempt = ARGV[1], ARGV[2]
if attempt ~= '1' and redis.call('ZSCORE', FENCES, operation) then
  return { 1, redis.call('HVALS', SNAPSHOTS) }
end
local existed = redis.call('EXISTS', META)
for index = 1, #KEYS - 1 do redis.call('UNLINK', KEYS[index]) end
if existed == 1 then
  redis.call('ZADD', FENCES, 0, operation)
  redis.call('PEXPIRE', FENCES, LATE)
end
return { existed, redis.call('HVALS', SNAPSHOTS) }
