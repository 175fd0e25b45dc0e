#!lua
-- Sets counters if they, and the account, have not changed since the caller read them.
--include step.lua
local operation, attempt, token, sequence, requests, given_time = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local meta = redis.call('HMGET', META, 'version', 'token', 'sequence', 'requests', 'real', 'unborn')
if not meta[1] then return { 'gone' } end
if is_late(operation, attempt) then return { 'late' } end
local real = read_time(given_time, meta[5])
if attempt ~= '1' and find_record(UNDO, operation) then return { 'ok', show(real) } end
-- Each change of the counters increases the sequence.
if meta[2] ~= token or meta[3] ~= sequence then return { 'conflict' } end
if meta[6] then settle() end
local undo = { 'o', operation, 'r', show(real), 'n', meta[4] }
-- Triples: `q` or `t` with the name, the old text, the new text; an empty text means no counter.
for index = 7, #ARGV, 3 do
  local key = string.sub(ARGV[index], 1, 1) == 'q' and QUOTAS or TALLIES
  local name = string.sub(ARGV[index], 2)
  if ARGV[index + 2] == '' then
    redis.call('HDEL', key, name)
  else
    redis.call('HSET', key, name, ARGV[index + 2])
  end
  undo[#undo + 1] = ARGV[index]
  undo[#undo + 1] = ARGV[index + 1]
end
local next_sequence = show(tonumber(sequence) + 1)
redis.call('HSET', META, 'requests', requests, 'sequence', next_sequence, 'changed', '1')
keep_undo(next_sequence, undo)
return { 'ok', show(real) }
