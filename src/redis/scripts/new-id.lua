#!lua
-- An id that no account has or had.
--include registry.lua
while true do
  local id = 'account-' .. redis.call('HINCRBY', NUMBERS, 'ids', 1)
  if redis.call('HEXISTS', ACCOUNTS, id) == 0 and redis.call('HEXISTS', DYING, id) == 0 then return id end
end
