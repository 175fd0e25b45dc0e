#!lua
-- Records that an evictable account is changed for the first time. From now on it is evicted only if it was idle.
--include registry.lua
local incarnation = ARGV[1]
if redis.call('ZREM', UNCHANGED, incarnation) == 1 then redis.call('ZADD', CHANGED, 0, incarnation) end
return use(incarnation, read_time(ARGV[2])) and 1 or 0
