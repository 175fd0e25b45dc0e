#!lua flags=allow-oom
-- Registers an account again as far as keys of the registry were lost. Existing entries are right and stay.
--include registry.lua
local incarnation, id, now, evictable, changed, version = ARGV[1], ARGV[2], read_time(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local FIRST_KEY = 7

redis.call('HSETNX', NAMES, incarnation, id)
if redis.call('HEXISTS', DOOMED, incarnation) == 1 then
  redis.call('HSETNX', DYING, id, incarnation)
  return 0
end
redis.call('HSETNX', ACCOUNTS, id, incarnation)
if redis.call('HGET', ACCOUNTS, id) ~= incarnation then
  -- Another account with this id was created meanwhile.
  redis.call('HSET', DOOMED, incarnation, '- ' .. show(now))
  redis.call('HSETNX', DYING, id, incarnation)
  return 0
end
if redis.call('HGET', DYING, id) == incarnation then redis.call('HDEL', DYING, id) end
if not redis.call('ZSCORE', ORDER, incarnation) then
  redis.call('ZADD', ORDER, redis.call('HINCRBY', NUMBERS, 'creations', 1), incarnation)
end
local held = {}
for index = FIRST_KEY, #ARGV do
  local holder = read_holder(ARGV[index])
  if not holder then
    holder = { incarnation = incarnation, version = tonumber(version), has = '1', claims = {} }
    write_holder(ARGV[index], holder)
  end
  if holder.incarnation == incarnation then held[#held + 1] = ARGV[index] end
end
if #held > 0 then redis.call('HSETNX', HELD, incarnation, table.concat(held, '\n')) end
if evictable == '1' then
  if not redis.call('ZSCORE', UNCHANGED, incarnation) and not redis.call('ZSCORE', CHANGED, incarnation) then
    local queue = changed == '1' and CHANGED or UNCHANGED
    redis.call('ZADD', queue, redis.call('HINCRBY', NUMBERS, 'uses', 1), incarnation)
  end
  redis.call('HSETNX', USED, incarnation, show(now))
end
return 1
