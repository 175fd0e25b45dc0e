#!lua flags=allow-oom
-- Takes note of uses of accounts that may be evicted: pairs of an incarnation and the time.
--include registry.lua
for index = 1, #ARGV, 2 do use(ARGV[index], tonumber(ARGV[index + 1])) end
return 1
