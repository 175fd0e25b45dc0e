#!lua flags=no-writes
-- The names of all snapshots of an account, each with its summary.
--include step.lua
if redis.call('EXISTS', META) == 0 then return { 'gone' } end
return { 'ok', redis.call('HGETALL', KEYS[8]) }
