-- The common part of all scripts about one account.
local META, PARTS, LOG, QUOTAS, TALLIES, UNDO, FENCES = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]

-- How many records of changes and of counts are kept, and how many bytes of changes.
local RECORDS = 1000
local BYTES = 1048576
-- In milliseconds, how long other replicas wait for a change that was too late too often.
local TURN = 1000
-- In milliseconds, how long a late command is recognized.
local LATE = 60000
-- In milliseconds since the Unix epoch, see domain/limits.ts.
local LAST_INSTANT = 253402300799999

-- Numbers as texts without loss: Redis would remove the fraction of a number.
local function show(number)
  return string.format('%.17g', number)
end

-- The time in milliseconds. Tests pass their own time. It is never earlier than the latest time in the account.
local function read_time(given, latest)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return math.max(time[1] * 1000 + math.floor(time[2] / 1000), tonumber(latest or 0))
end

-- The changes since the caller's version: 0 for none, a list of log records, or 1 if the log does not reach back so
-- far. Versions are compared by the operation that made them, because a store that was restored from a backup uses
-- version numbers again. The old values of parts are left out.
local function changes_since(version, token, present)
  if token == present then return 0 end
  if version == '0' then return 1 end
  local records = redis.call('XRANGE', LOG, version .. '-0', '+')
  local first = records[1]
  if not first or first[1] ~= version .. '-0' or first[2][2] ~= token then return 1 end
  local changes = {}
  for index = 2, #records do
    -- A record without its parts, because there were too many of them.
    local fields = records[index][2]
    if fields[3] == '!' then return 1 end
    local present_parts = {}
    for at = 3, #fields, 2 do
      local is_former = string.sub(fields[at], 1, 1) == '-'
      -- The old value of a part precedes the new value. An old value alone means that the part is removed.
      if not is_former or fields[at + 2] ~= '+' .. string.sub(fields[at], 2) then
        present_parts[#present_parts + 1] = fields[at]
        present_parts[#present_parts + 1] = is_former and '' or fields[at + 1]
      end
    end
    changes[index - 1] = { records[index][1], present_parts }
  end
  return changes
end

-- Ends the expiry of a new account. Without this step of its creator, the account expires.
local function settle()
  redis.call('HDEL', META, 'unborn')
  redis.call('PERSIST', META)
  redis.call('PERSIST', PARTS)
  redis.call('PERSIST', LOG)
end

-- A command without a reply is sent again. The first attempt may still arrive later, and must do nothing then.
local function is_late(operation, attempt)
  if attempt == '1' then return redis.call('ZSCORE', FENCES, operation) ~= false end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', FENCES, '-inf', show(now - LATE))
  redis.call('ZADD', FENCES, show(now), operation)
  redis.call('PEXPIRE', FENCES, LATE)
  return false
end

-- Keeps how to undo a change of the counters. If there is too much for one record, no older moment can be recalled.
local function keep_undo(sequence, undo)
  if #undo > 4000 then
    redis.call('DEL', UNDO)
  else
    redis.call('XADD', UNDO, 'MAXLEN', '=', RECORDS, sequence .. '-0', unpack(undo))
  end
end

-- The record of an operation in a stream, if there is one.
local function find_record(stream, operation)
  for _, record in ipairs(redis.call('XREVRANGE', stream, '+', '-', 'COUNT', RECORDS)) do
    if record[2][2] == operation then return record end
  end
  return nil
end
