#!lua
-- Changes an account if no other change followed the version on which the change was decided. Optionally, it replaces
-- the counters in the same step.
--include step.lua
local FORMER = { KEYS[8], KEYS[9], KEYS[10], KEYS[11] }
local operation, attempt, version, token = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local is_gate, is_replaced, requests, given_time = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
-- The lengths of the lists that follow: fields with values, removed fields, removed key hashes, removed rules, new
-- quotas with values, new tallies with values. After them: the asking replica, and whether it wants the next turn.
local sets, deletions, hashes, rules, quotas, tallies = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]),
  tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14])
local who, wants_turn = ARGV[#ARGV - 1], ARGV[#ARGV]

local meta = redis.call('HMGET', META, 'version', 'token', 'gate', 'requests', 'sequence', 'unborn', 'bytes', 'real',
  'former1', 'former2', 'former3', 'former4', 'turn')
if not meta[1] then return { 'gone' } end
local real = read_time(given_time, meta[8])
if attempt ~= '1' then
  local record = find_record(LOG, operation)
  if record then
    return { 'ok', show(real), string.match(record[1], '^%d+'), meta[1], meta[2], meta[3], changes_since(version, token, meta[2]) }
  end
end
-- A late attempt finds another token too, because the attempt after it was done.
local holder, ends = string.match(meta[13] or '', '^(%S+) (%S+)$')
local is_held = holder ~= nil and holder ~= who and real < tonumber(ends)
if meta[2] ~= token or is_held then
  -- A change that takes long to decide would always lose against fast changes. So a replica that has lost often gets a
  -- turn, and the other replicas wait.
  if wants_turn == '1' and not is_held then redis.call('HSET', META, 'turn', who .. ' ' .. show(real + TURN)) end
  return { 'conflict', meta[1], meta[2], meta[3], changes_since(version, token, meta[2]), is_held and '1' or '0' }
end
if holder == who then redis.call('HDEL', META, 'turn') end
if meta[6] then settle() end

-- Whether the change is too large for a record of the log. A record has the old and the new value of each part.
local function is_large()
  if sets + deletions > 1000 then return true end
  local size = 0
  for index = 15, 14 + 2 * sets, 2 do
    size = size + 2 * #ARGV[index] + #ARGV[index + 1] + redis.call('HSTRLEN', PARTS, ARGV[index])
  end
  for index = 15 + 2 * sets, 14 + 2 * sets + deletions do
    size = size + #ARGV[index] + redis.call('HSTRLEN', PARTS, ARGV[index])
  end
  return size > BYTES / 4
end

-- Copies the account before a large change, so that it can be recalled. Only the last copies are kept.
local function keep_former()
  for slot = #FORMER, 2, -1 do
    redis.call('UNLINK', FORMER[slot])
    local is_there = redis.call('EXISTS', FORMER[slot - 1]) == 1
    meta[8 + slot] = is_there and meta[8 + slot - 1]
    if is_there then
      redis.call('RENAME', FORMER[slot - 1], FORMER[slot])
      redis.call('HSET', META, 'former' .. slot, meta[8 + slot])
    else
      redis.call('HDEL', META, 'former' .. slot)
    end
  end
  redis.call('COPY', PARTS, FORMER[1])
  meta[9] = meta[1]
  redis.call('HSET', META, 'former1', meta[9])
end

local is_too_large = is_large()
if is_too_large then keep_former() end

local record, bytes, at = { 'o', operation }, 0, 14
local function log(sign, field, text)
  if not text or is_too_large then return end
  record[#record + 1] = sign .. field
  record[#record + 1] = text
  bytes = bytes + #field + #text
end
for _ = 1, sets do
  local field, text = ARGV[at + 1], ARGV[at + 2]
  log('-', field, redis.call('HGET', PARTS, field))
  log('+', field, text)
  redis.call('HSET', PARTS, field, text)
  at = at + 2
end
for _ = 1, deletions do
  log('-', ARGV[at + 1], redis.call('HGET', PARTS, ARGV[at + 1]))
  redis.call('HDEL', PARTS, ARGV[at + 1])
  at = at + 1
end

local undo = { 'o', operation, 'r', show(real), 'n', meta[4] }
local function forget(key, sign, field, text)
  if not text then return end
  undo[#undo + 1] = sign .. field
  undo[#undo + 1] = text
  redis.call('HDEL', key, field)
end
if hashes > 0 then
  local buckets = redis.call('HGETALL', QUOTAS)
  for index = 1, hashes do
    local prefix = ARGV[at + index] .. ' '
    for each = 1, #buckets, 2 do
      if string.sub(buckets[each], 1, #prefix) == prefix then forget(QUOTAS, 'q', buckets[each], buckets[each + 1]) end
    end
  end
end
at = at + hashes
for index = 1, rules do forget(TALLIES, 't', ARGV[at + index], redis.call('HGET', TALLIES, ARGV[at + index])) end
at = at + rules
if is_replaced == '1' then
  for sign, key in pairs({ q = QUOTAS, t = TALLIES }) do
    local all = redis.call('HGETALL', key)
    for index = 1, #all, 2 do
      undo[#undo + 1] = sign .. all[index]
      undo[#undo + 1] = all[index + 1]
    end
    redis.call('DEL', key)
  end
  for key, size in pairs({ [QUOTAS] = quotas, [TALLIES] = tallies }) do
    local from = key == QUOTAS and at or at + 2 * quotas
    for index = from + 1, from + 2 * size, 2 do
      redis.call('HSET', key, ARGV[index], ARGV[index + 1])
      local sign = key == QUOTAS and 'q' or 't'
      -- If a record names a field twice, the first one is the old value.
      undo[#undo + 1] = sign .. ARGV[index]
      undo[#undo + 1] = ''
    end
  end
  if requests ~= '' then redis.call('HSET', META, 'requests', requests) end
end
if #undo > 6 or is_replaced == '1' then
  local sequence = show(tonumber(meta[5]) + 1)
  redis.call('HSET', META, 'sequence', sequence)
  keep_undo(sequence, undo)
end

local next_version = show(tonumber(meta[1]) + 1)
if is_too_large then record = { 'o', operation, '!', '' } end
redis.call('XADD', LOG, 'MAXLEN', '=', RECORDS, next_version .. '-0', unpack(record))
local total = tonumber(meta[7] or 0) + bytes
-- If the records are too long, the older half is removed. One record has at most a quarter of the bytes.
while total > BYTES do
  local length = redis.call('XLEN', LOG)
  redis.call('XTRIM', LOG, 'MAXLEN', '=', math.max(1, math.floor(length / 2)))
  total = 0
  for _, kept in ipairs(redis.call('XRANGE', LOG, '-', '+')) do
    for index = 3, #kept[2] do total = total + #kept[2][index] end
  end
end
-- A copy is useless once the log does not reach back to it.
if meta[9] then
  local oldest = tonumber(string.match(redis.call('XRANGE', LOG, '-', '+', 'COUNT', 1)[1][1], '^%d+'))
  for slot = 1, #FORMER do
    if meta[8 + slot] and tonumber(meta[8 + slot]) + 1 < oldest then redis.call('UNLINK', FORMER[slot]) end
  end
end
redis.call('HSET', META, 'version', next_version, 'token', operation, 'changed', '1', 'bytes', total, 'real', show(real))
local gate = meta[3]
if is_gate == '1' then
  gate = operation
  redis.call('HSET', META, 'gate', gate)
end
return { 'ok', show(real), next_version, next_version, operation, gate, 0 }
