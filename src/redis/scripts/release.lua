#!lua flags=allow-oom
-- Forgets an account whose data is gone, with its id and its keys.
--include registry.lua
local incarnation = ARGV[1]
local id = redis.call('HGET', NAMES, incarnation)
if not id then return 0 end
if redis.call('HGET', ACCOUNTS, id) == incarnation then redis.call('HDEL', ACCOUNTS, id) end
if redis.call('HGET', DYING, id) == incarnation then redis.call('HDEL', DYING, id) end
for hash in string.gmatch(redis.call('HGET', HELD, incarnation) or '', '[^\n]+') do
  if holder_of(hash) == incarnation then redis.call('HDEL', HOLDERS, hash) end
end
for _, key in ipairs({ NAMES, HELD, USED, DOOMED }) do redis.call('HDEL', key, incarnation) end
for _, key in ipairs({ ORDER, UNCHANGED, CHANGED }) do redis.call('ZREM', key, incarnation) end
return 1
