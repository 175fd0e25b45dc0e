#!lua flags=allow-oom
-- Deletes the data of an account, so that no request can enter it. The names of its snapshots stay until the snapshots
-- are deleted; from them the caller learns the keys. Returns also whether another caller has just deleted the account.
--include step.lua
local SNAPSHOTS = KEYS[#KEYS]
local operation, attempt = ARGV[1], ARGV[2]
if attempt ~= '1' and redis.call('ZSCORE', FENCES, operation) then
  return { 1, redis.call('HVALS', SNAPSHOTS), 1 }
end
local existed = redis.call('EXISTS', META)
local was_killed = redis.call('EXISTS', FENCES)
for index = 1, #KEYS - 1 do redis.call('UNLINK', KEYS[index]) end
if existed == 1 then
  redis.call('ZADD', FENCES, 0, operation)
  redis.call('PEXPIRE', FENCES, LATE)
end
return { existed, redis.call('HVALS', SNAPSHOTS), was_killed }
