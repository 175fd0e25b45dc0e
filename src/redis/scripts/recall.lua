#!lua flags=no-writes
-- The data for the state of an account at an earlier moment: the records of the changes up to the caller's copy.
--include step.lua
local version, token, sequence = tonumber(ARGV[1]) or 0, ARGV[2], tonumber(ARGV[3])
local copy_version, copy_token = tonumber(ARGV[4]), ARGV[5]
local meta = redis.call('HMGET', META, 'sequence', 'former1', 'former2', 'former3', 'former4')
if not meta[1] then return { 'gone' } end

-- The records of a stream in a range; nothing if some of them are missing.
local function read_all(stream, from, to)
  local records = redis.call('XRANGE', stream, show(from) .. '-0', show(to) .. '-0')
  if #records ~= to - from + 1 then return nil end
  return records
end

local present = tonumber(meta[1])
if present < sequence then return { 'unknown' } end
local counts = present > sequence and read_all(UNDO, sequence + 1, present) or present == sequence and {}
if not counts then return { 'unknown' } end

-- Versions are compared by the operation that made them, see `changes_since`.
local parts, changes = false, {}
if token ~= copy_token then
  local records = version < copy_version and read_all(LOG, version, copy_version)
  if not records or records[1][2][2] ~= token or records[#records][2][2] ~= copy_token then return { 'unknown' } end
  for index = 2, #records do
    if records[index][2][3] == '!' then
      -- The change was too large for a record. A copy of the account before it may exist.
      local before = show(version + index - 2)
      for slot = 1, 4 do
        if meta[1 + slot] == before then parts = redis.call('HGETALL', KEYS[7 + slot]) end
      end
      -- A server that evicts keys may have evicted the copy.
      if not parts or #parts == 0 then return { 'unknown' } end
      break
    end
    changes[#changes + 1] = records[index][2]
  end
end
return { 'ok', parts, changes, counts, redis.call('HGETALL', QUOTAS), redis.call('HGETALL', TALLIES) }
