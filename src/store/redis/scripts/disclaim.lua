#!lua flags=allow-oom
-- Lets go of keys that an account has not, unless another change has claimed them meanwhile.
--include registry.lua
local incarnation, stamp, gone = ARGV[1], ARGV[2], {}
for index = 3, #ARGV do
  if redis.call('HGET', HOLDERS, ARGV[index]) == incarnation .. ' ' .. stamp then
    redis.call('HDEL', HOLDERS, ARGV[index])
    gone[ARGV[index]] = true
  end
end
local held = {}
for hash in string.gmatch(redis.call('HGET', HELD, incarnation) or '', '[^\n]+') do
  if not gone[hash] then held[#held + 1] = hash end
end
if redis.call('HEXISTS', NAMES, incarnation) == 1 then redis.call('HSET', HELD, incarnation, table.concat(held, '\n')) end
return 1
