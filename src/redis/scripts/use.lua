#!lua flags=allow-oom
-- Records uses of evictable accounts: pairs of an incarnation and the time.
--include registry.lua
for index = 1, #ARGV, 2 do use(ARGV[index], tonumber(ARGV[index + 1])) end
return 1
