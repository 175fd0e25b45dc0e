#!lua flags=no-writes
-- The names of all snapshots of an account, each with what is known of it without reading it.
--include step.lua
if redis.call('EXISTS', META) == 0 then return { 'gone' } end
return { 'ok', redis.call('HGETALL', KEYS[8]) }
