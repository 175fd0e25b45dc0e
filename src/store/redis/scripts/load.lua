#!lua flags=no-writes
-- A part of an account, for whoever has no copy of it. Others wait while a script runs, so a large account is read in
-- several steps. The last one tells what was changed since the first one.
--include step.lua
local cursor, version, token = ARGV[1], ARGV[2], ARGV[3]
local meta = redis.call('HMGET', META, 'version', 'token', 'gate', 'evictable', 'changed')
if not meta[1] then return { 'gone' } end
local page = redis.call('HSCAN', PARTS, cursor, 'COUNT', 10000)
local changes = 0
if page[1] == '0' and cursor ~= '0' then changes = changes_since(version, token, meta[2]) end
return { 'ok', meta[1], meta[2], meta[3], meta[4], meta[5], page[1], page[2], changes }
