#!lua
-- Claims keys for an account before a change gives them to it, or takes them away. Nobody else gets them before `unclaim`
-- tells what has become of the change.
--include registry.lua
local incarnation, operation, now = ARGV[1], ARGV[2], read_time(ARGV[3])
local id = redis.call('HGET', NAMES, incarnation)
if not id or redis.call('HGET', ACCOUNTS, id) ~= incarnation then return { 'gone' } end
local refusal = refuse_keys(incarnation, 4, now)
if refusal then return refusal end
hold_keys(incarnation, operation .. '@' .. show(now), 4)
return { 'ok' }
