#!lua flags=no-writes
-- Accounts whose deletion another process has begun, and must be finished.
--include registry.lua
return list_doomed(read_time(ARGV[1]))
