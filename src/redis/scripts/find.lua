#!lua flags=no-writes
-- The incarnation and the id of the account with a given id or key.
--include registry.lua
local incarnation = ARGV[1] == 'id' and redis.call('HGET', ACCOUNTS, ARGV[2]) or ARGV[1] == 'key' and holder_of(ARGV[2])
if not incarnation then return {} end
local id = redis.call('HGET', NAMES, incarnation)
-- An account that is being deleted has no id any more.
if not id or redis.call('HGET', ACCOUNTS, id) ~= incarnation then return {} end
return { incarnation, id }
