#!lua flags=no-writes
-- A copy of an account that is kept under a name. The caller knows from an earlier call which copy that is.
--include step.lua
local name, expected = ARGV[1], ARGV[2]
if redis.call('EXISTS', META) == 0 then return { 'gone' } end
local known = redis.call('HGET', KEYS[8], name)
if not known then return { 'none' } end
local copy = string.match(known, '^%d+ (%S+)')
if copy ~= expected then return { 'conflict', copy } end
-- A server that evicts keys may have evicted the copy.
if redis.call('EXISTS', KEYS[9]) == 0 then return { 'none' } end
return { 'ok', known, redis.call('HGETALL', KEYS[9]), redis.call('HGETALL', KEYS[10]), redis.call('HGETALL', KEYS[11]) }
