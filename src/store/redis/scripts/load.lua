#!lua flags=no-writes
-- The whole account, for whoever has no copy of it.
--include step.lua
local meta = redis.call('HMGET', META, 'version', 'token', 'gate', 'evictable', 'changed')
if not meta[1] then return { 'gone' } end
return { 'ok', meta[1], meta[2], meta[3], meta[4], meta[5], redis.call('HGETALL', PARTS) }
