-- What all scripts about one account have in common.
local META, PARTS, LOG, QUOTAS, TALLIES, UNDO, FENCES = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]

-- How many records are kept of changes and of counts, and how many bytes of changes.
local RECORDS = 1000
local BYTES = 1048576
-- In milliseconds, for how long others wait for a change that was too late too often.
local TURN = 1000
-- In milliseconds, how long a command that comes late is recognized.
local LATE = 60000

-- Numbers as texts that lose nothing: what Redis makes of a number has no fraction.
local function show(number)
  return string.format('%.17g', number)
end

-- The time in milliseconds. Tests bring their own. It never goes back, as far as the account has seen it.
local function read_time(given, latest)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return math.max(time[1] * 1000 + math.floor(time[2] / 1000), tonumber(latest or 0))
end

-- What was changed since the version that the caller knows: 0 for nothing, a list of records of the log, or 1 where the
-- log does not tell it. Versions are compared by the operation that made them: a store that comes back from an older
-- backup counts the same numbers again. What parts were before the changes is not told.
local function changes_since(version, token, present)
  if token == present then return 0 end
  if version == '0' then return 1 end
  local records = redis.call('XRANGE', LOG, version .. '-0', '+')
  local first = records[1]
  if not first or first[1] ~= version .. '-0' or first[2][2] ~= token then return 1 end
  local changes = {}
  for index = 2, #records do
    -- A record without its parts, because they were too many.
    local fields = records[index][2]
    if fields[3] == '!' then return 1 end
    local present_parts = {}
    for at = 3, #fields, 2 do
      local is_former = string.sub(fields[at], 1, 1) == '-'
      -- What a part was stands before what it is. Alone, it says that the part is gone.
      if not is_former or fields[at + 2] ~= '+' .. string.sub(fields[at], 2) then
        present_parts[#present_parts + 1] = fields[at]
        present_parts[#present_parts + 1] = is_former and '' or fields[at + 1]
      end
    end
    changes[index - 1] = { records[index][1], present_parts }
  end
  return changes
end

-- A new account vanishes by itself unless its creator lives long enough to say that it is complete.
local function settle()
  redis.call('HDEL', META, 'unborn')
  redis.call('PERSIST', META)
  redis.call('PERSIST', PARTS)
  redis.call('PERSIST', LOG)
end

-- A command whose reply was lost is sent again. Then the first one may still be on its way, and must do nothing.
local function is_late(operation, attempt)
  if attempt == '1' then return redis.call('ZSCORE', FENCES, operation) ~= false end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', FENCES, '-inf', show(now - LATE))
  redis.call('ZADD', FENCES, show(now), operation)
  redis.call('PEXPIRE', FENCES, LATE)
  return false
end

-- The record that an operation has left in a stream, if it has.
local function find_record(stream, operation)
  for _, record in ipairs(redis.call('XREVRANGE', stream, '+', '-', 'COUNT', RECORDS)) do
    if record[2][2] == operation then return record end
  end
  return nil
end
