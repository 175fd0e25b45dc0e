#!lua
-- Claims keys for an account before a change gives them to it, or takes them away. The stamp shows later whether another
-- change has claimed them meanwhile.
--include registry.lua
local incarnation, stamp = ARGV[1], ARGV[2]
local id = redis.call('HGET', NAMES, incarnation)
if not id or redis.call('HGET', ACCOUNTS, id) ~= incarnation then return { 'gone' } end
local refusal = refuse_keys(incarnation, 3, #ARGV)
if refusal then return refusal end
claim_keys(incarnation, stamp, 3, #ARGV)
return { 'ok' }
