#!lua flags=no-writes
-- The lost keys of the registry.
--include registry.lua
--include losses.lua
return find_losses()
