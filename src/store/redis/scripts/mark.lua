#!lua
-- Takes note that an account that may be evicted is going to be changed for the first time: from now on it makes room
-- only when it was idle.
--include registry.lua
local incarnation = ARGV[1]
if redis.call('ZREM', UNCHANGED, incarnation) == 1 then redis.call('ZADD', CHANGED, 0, incarnation) end
return use(incarnation, read_time(ARGV[2])) and 1 or 0
