-- What all scripts about the list of accounts have in common. An account is known by its incarnation, which no other
-- account ever has. Ids and keys of an account that is being deleted stay taken until its data is gone.
-- ACCOUNTS: id → incarnation. NAMES: incarnation → id. HOLDERS: hash of a key → incarnation and the operation that claimed
-- it. HELD: incarnation → hashes of its keys. ORDER: by creation. UNCHANGED and CHANGED: those that may be evicted, by last
-- use. USED: when that was. DOOMED: those that are being deleted → for whom and since when. DYING: their ids.
local ACCOUNTS, NAMES, HOLDERS, HELD, ORDER = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local UNCHANGED, CHANGED, USED, DOOMED, DYING, NUMBERS = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]

local function show(number)
  return string.format('%.17g', number)
end

-- The time in milliseconds. Tests bring their own.
local function read_time(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Who holds a key: the incarnation.
local function holder_of(hash)
  local holder = redis.call('HGET', HOLDERS, hash)
  return holder and string.match(holder, '^[^ ]+')
end

-- Why these keys, from ARGV[from] on, cannot be those of the account, if they cannot.
local function refuse_keys(incarnation, from, to)
  for index = from, to do
    local holder = holder_of(ARGV[index])
    if holder and holder ~= incarnation then
      if redis.call('HEXISTS', DOOMED, holder) == 1 then return { 'dying', holder } end
      return { 'held', index - from, redis.call('HGET', NAMES, holder) }
    end
  end
  return nil
end

local function claim_keys(incarnation, stamp, from, to)
  if to < from then return end
  local held = {}
  for hash in string.gmatch(redis.call('HGET', HELD, incarnation) or '', '[^\n]+') do held[#held + 1] = hash end
  for index = from, to do
    if holder_of(ARGV[index]) ~= incarnation then held[#held + 1] = ARGV[index] end
    redis.call('HSET', HOLDERS, ARGV[index], incarnation .. ' ' .. stamp)
  end
  redis.call('HSET', HELD, incarnation, table.concat(held, '\n'))
end

-- Takes note that an account that may be evicted is used.
local function use(incarnation, now)
  for _, queue in ipairs({ UNCHANGED, CHANGED }) do
    if redis.call('ZSCORE', queue, incarnation) then
      -- Milliseconds would not tell the order of uses that follow each other fast.
      redis.call('ZADD', queue, redis.call('HINCRBY', NUMBERS, 'uses', 1), incarnation)
      redis.call('HSET', USED, incarnation, show(now))
      return true
    end
  end
  return false
end

-- The account that makes room now, if one does: the changed ones only when they were idle.
local function find_evicted(now, idle)
  local victim = redis.call('ZRANGE', UNCHANGED, 0, 0)[1]
  if victim then return victim end
  victim = redis.call('ZRANGE', CHANGED, 0, 0)[1]
  if not victim or idle == '' then return nil end
  -- If the clock was set back since, the account must not be kept until it shows that time again.
  local age = math.abs(now - tonumber(redis.call('HGET', USED, victim) or 0))
  if age < tonumber(idle) then return nil end
  return victim
end
