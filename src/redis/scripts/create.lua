#!lua
-- Writes the data of a new account. No request finds it before it is registered. If its creator dies, it expires.
--include step.lua
local operation, evictable = ARGV[1], ARGV[2]
-- A large account is written in several steps, because other clients wait while a script runs.
if redis.call('EXISTS', META) == 1 then
  for index = 3, #ARGV, 2 do redis.call('HSET', PARTS, ARGV[index], ARGV[index + 1]) end
  return { 'ok' }
end
redis.call('HSET', META, 'version', '1', 'token', operation, 'gate', operation, 'requests', '0', 'sequence', '0',
  'evictable', evictable, 'changed', '0', 'unborn', '1')
for index = 3, #ARGV, 2 do redis.call('HSET', PARTS, ARGV[index], ARGV[index + 1]) end
redis.call('XADD', LOG, '1-0', 'o', operation)
for index = 1, 3 do redis.call('PEXPIRE', KEYS[index], LATE) end
return { 'ok' }
