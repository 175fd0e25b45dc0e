#!lua flags=allow-oom
-- The account is registered, so it stays.
--include step.lua
if redis.call('EXISTS', META) == 0 then return 0 end
settle()
return 1
