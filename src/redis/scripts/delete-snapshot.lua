#!lua flags=allow-oom
-- Deletes the named copy of an account.
--include step.lua
local operation, attempt, name, expected = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if redis.call('EXISTS', META) == 0 then return { 'gone' } end
if is_late(operation, attempt) then return { 'late' } end
-- The first attempt was done, but its reply was lost.
if attempt ~= '1' and redis.call('HGET', META, 'dropped') == operation then return { 'ok' } end
local known = redis.call('HGET', KEYS[8], name)
if not known then return { 'none' } end
local copy = string.match(known, '^%d+ (%S+)')
if copy ~= expected then return { 'conflict', copy } end
redis.call('HDEL', KEYS[8], name)
for index = 9, #KEYS do redis.call('UNLINK', KEYS[index]) end
redis.call('HSET', META, 'dropped', operation)
return { 'ok' }
