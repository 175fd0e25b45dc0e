#!lua
-- Copies an account with its counters, and keeps the copy under a name. The data stays on the server.
--include step.lua
local SNAPSHOTS = KEYS[8]
local operation, attempt, name, limit, given_time = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local replaced, may_replace, is_marked = ARGV[6], ARGV[7], ARGV[8]

local meta = redis.call('HMGET', META, 'real', 'unborn', 'taken', 'version', 'evictable', 'changed')
if not meta[4] then return { 'gone' } end
if is_late(operation, attempt) then return { 'late' } end
-- The first attempt was done, but its reply was lost.
if attempt ~= '1' and meta[3] and string.match(meta[3], '^%d+ (%S+)') == operation then return { 'ok', meta[3] } end

local known = redis.call('HGET', SNAPSHOTS, name)
if known and may_replace == '0' then return { 'taken' } end
if not known and redis.call('HLEN', SNAPSHOTS) >= tonumber(limit) then return { 'too-many' } end
-- The keys of the replaced copy must be among the keys of this script.
local former = known and string.match(known, '^%d+ (%S+)') or ''
if former ~= replaced then return { 'conflict', former } end

-- The list of all accounts must record the first change of an evictable account before the change.
if meta[5] == '1' and meta[6] == '0' and is_marked == '0' then return { 'unmarked' } end

if meta[2] then settle() end
local real = read_time(given_time, meta[1])
local clock = cjson.decode(redis.call('HGET', PARTS, '.clock'))
-- The names of domains begin with `d`, those of groups with `g`.
local domains, groups = 0, 0
for _, field in ipairs(redis.call('HKEYS', PARTS)) do
  local letter = string.byte(field)
  if letter == 100 then domains = domains + 1 elseif letter == 103 then groups = groups + 1 end
end
redis.call('COPY', PARTS, KEYS[9])
redis.call('COPY', QUOTAS, KEYS[10])
redis.call('COPY', TALLIES, KEYS[11])
for index = 12, #KEYS do redis.call('UNLINK', KEYS[index]) end
local number = redis.call('HINCRBY', META, 'snapshots', 1)
local now = math.min(clock.frozenAt or real + clock.offset, LAST_INSTANT)
local summary = table.concat({ number, operation, show(now), domains, groups }, ' ')
redis.call('HSET', SNAPSHOTS, name, summary)
redis.call('HSET', META, 'taken', summary, 'changed', '1', 'real', show(real))
return { 'ok', summary }
