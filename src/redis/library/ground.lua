-- The beginning of the library of functions. The other files follow in one text, so that they share all of this.

-- Registers a function. Its callers give one key, the common beginning of all keys, and arguments. A function with
-- `no-writes` changes nothing. The server is not told so, because then it would run the function also where it has become
-- a read-only replica, whose data may be old.
local function declare(name, flags, act)
  for index = 1, #flags do
    if flags[index] == 'no-writes' then flags[index] = 'allow-oom' end
  end
  flags[#flags + 1] = 'allow-cross-slot-keys'
  redis.register_function({
    function_name = name .. '_@DIGEST@',
    callback = function(keys, args) return act(keys[1], args) end,
    flags = flags,
  })
end

-- A key of the data about all accounts, and a key of one account.
local function all(base, name)
  return base .. 'all}:' .. name
end

local function of(base, incarnation, name)
  return base .. incarnation .. '}:' .. name
end

-- Numbers as texts without loss: Redis would remove the fraction of a number.
local function show(number)
  return string.format('%.17g', number)
end

-- The time in microseconds. Tests pass their own time in milliseconds. It is never earlier than the given latest time.
local function read_micros(given, latest)
  if given ~= '' then return tonumber(given) * 1000 end
  local time = redis.call('TIME')
  return math.max(time[1] * 1000000 + time[2], tonumber(latest or 0))
end
