#!lua flags=no-writes
-- The changes since the copy of the caller.
--include step.lua
local meta = redis.call('HMGET', META, 'version', 'token', 'gate')
if not meta[1] then return { 'gone' } end
return { 'ok', meta[1], meta[2], meta[3], changes_since(ARGV[1], ARGV[2], meta[2]) }
