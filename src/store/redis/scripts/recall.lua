#!lua flags=no-writes
-- What is needed to say what an account was at an earlier moment: the records of what was changed since, up to the copy of
-- the account that the caller has.
--include step.lua
local version, token, sequence = tonumber(ARGV[1]) or 0, ARGV[2], tonumber(ARGV[3])
local copy_version, copy_token = tonumber(ARGV[4]), ARGV[5]
local meta = redis.call('HMGET', META, 'sequence', 'former1', 'former2', 'former3', 'former4')
if not meta[1] then return { 'gone' } end

-- The records of a stream from one to another; nothing where they are not all there.
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
      -- The change was too large for a record. There may be a copy of the account before it.
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
