#!lua flags=no-writes
-- The ids of a range of all accounts, in the order of their creation.
--include registry.lua
local incarnations = redis.call('ZRANGE', ORDER, ARGV[1], ARGV[2])
if #incarnations == 0 then return {} end
return redis.call('HMGET', NAMES, unpack(incarnations))
