#!lua flags=no-writes
-- Accounts whose deletion somebody else has to finish.
--include registry.lua
return list_doomed(read_time(ARGV[1]))
