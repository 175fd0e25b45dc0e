#!lua flags=no-writes
-- Whether there is room for another account.
--include registry.lua
if ARGV[1] == '' or redis.call('HLEN', ACCOUNTS) < tonumber(ARGV[1]) then return 1 end
return find_evicted(read_time(ARGV[3]), ARGV[2]) and 1 or 0
