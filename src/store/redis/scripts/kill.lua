#!lua flags=allow-oom
-- Deletes the data of an account. From now on, nobody can enter it.
--include step.lua
local operation, attempt = ARGV[1], ARGV[2]
if attempt ~= '1' and redis.call('SISMEMBER', FENCES, operation) == 1 then return 1 end
local existed = redis.call('EXISTS', META)
for _, key in ipairs(KEYS) do redis.call('UNLINK', key) end
if existed == 1 then
  redis.call('SADD', FENCES, operation)
  redis.call('PEXPIRE', FENCES, LATE)
end
return existed
