#!lua flags=allow-oom
-- Takes one charge back if its window has not ended.
--include step.lua
local operation, attempt, bucket, started = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local meta = redis.call('HMGET', META, 'version', 'sequence', 'requests', 'real')
if not meta[1] or is_late(operation, attempt) then return { 'gone' } end
if attempt ~= '1' then
  local record = find_record(UNDO, operation)
  if record then
    local used = tonumber(string.match(record[2][8], ':(.*)$'))
    return { 'ok', show(used - 1) }
  end
end
local hits = redis.call('HGET', QUOTAS, bucket)
if not hits then return { 'none' } end
local begun, used = string.match(hits, '^(.*):(.*)$')
if tonumber(begun) ~= tonumber(started) or tonumber(used) == 0 then return { 'none' } end
redis.call('HSET', QUOTAS, bucket, begun .. ':' .. show(tonumber(used) - 1))
local sequence = show(tonumber(meta[2]) + 1)
redis.call('HSET', META, 'sequence', sequence)
keep_undo(sequence, { 'o', operation, 'r', meta[4] or '0', 'n', meta[3], 'q' .. bucket, hits })
return { 'ok', show(tonumber(used) - 1) }
