#!lua
-- Claims keys for an account before a change adds or removes them. No other account gets them before `unclaim` reports
-- the outcome of the change.
--include registry.lua
local incarnation, operation, now = ARGV[1], ARGV[2], read_time(ARGV[3])
local id = redis.call('HGET', NAMES, incarnation)
if not id or redis.call('HGET', ACCOUNTS, id) ~= incarnation then return { 'gone' } end
local refusal = refuse_keys(incarnation, 4, now)
if refusal then return refusal end
hold_keys(incarnation, operation .. '@' .. show(now), 4)
return { 'ok' }
