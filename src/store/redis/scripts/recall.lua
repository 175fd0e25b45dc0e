#!lua flags=no-writes
-- What is needed to say what the account was at an earlier moment: its parts, and the records of what was changed since.
--include step.lua
local version, token, sequence = tonumber(ARGV[1]) or 0, ARGV[2], tonumber(ARGV[3])
local meta = redis.call('HMGET', META, 'version', 'token', 'sequence', 'former1', 'former2', 'former3', 'former4')
if not meta[1] then return { 'gone' } end

-- The records of a stream from one on; nothing where they are not all there.
local function read_all(stream, from, to)
  if to < from then return {} end
  local records = redis.call('XRANGE', stream, show(from) .. '-0', '+')
  if #records ~= to - from + 1 or records[1][1] ~= show(from) .. '-0' then return nil end
  return records
end

local counts = read_all(UNDO, sequence + 1, tonumber(meta[3]))
if tonumber(meta[3]) < sequence or not counts then return { 'unknown' } end

local parts, changes = PARTS, {}
if token ~= meta[2] then
  local records = read_all(LOG, version, tonumber(meta[1]))
  -- Versions are compared by the operation that made them, see `changes_since`.
  if not records or #records < 2 or records[1][2][2] ~= token then return { 'unknown' } end
  for index = 2, #records do
    if records[index][2][3] == '!' then
      -- The change was too large for a record. There may be a copy of the account before it.
      local before = show(version + index - 2)
      parts = nil
      for slot = 1, 4 do
        if meta[3 + slot] == before then parts = KEYS[7 + slot] end
      end
      if not parts then return { 'unknown' } end
      break
    end
    changes[#changes + 1] = records[index][2]
  end
end
-- A server that evicts keys may have evicted the copy.
if redis.call('EXISTS', parts) == 0 then return { 'unknown' } end
return { 'ok', redis.call('HGETALL', parts), changes, counts, redis.call('HGETALL', QUOTAS), redis.call('HGETALL', TALLIES) }
