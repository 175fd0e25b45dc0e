#!lua flags=allow-oom
-- Keeps an account that is registered now.
--include step.lua
if redis.call('EXISTS', META) == 0 then return 0 end
settle()
return 1
