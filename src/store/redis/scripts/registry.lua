-- What all scripts about the list of accounts have in common. An account is known by its incarnation, which no other
-- account ever has. Ids and keys of an account that is being deleted stay taken until its data is gone.
-- ACCOUNTS: id → incarnation. NAMES: incarnation → id. HOLDERS: hash of a key → incarnation, the newest version of the
-- account of which it is known whether it has the key, 1 or 0, and then the changes that may give it or take it away, each
-- with the time. HELD: incarnation → hashes of its keys. ORDER: by creation. UNCHANGED and CHANGED: those that may be evicted, by last
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

-- In milliseconds, after what time nobody waits any more for the end of a change that was to give or take away a key.
local CLAIMED = 3600000

-- Who holds a key.
local function read_holder(hash)
  local text = redis.call('HGET', HOLDERS, hash)
  if not text then return nil end
  local holder = { claims = {} }
  for word in string.gmatch(text, '[^ ]+') do
    if not holder.incarnation then holder.incarnation = word
    elseif not holder.version then holder.version = tonumber(word)
    elseif not holder.has then holder.has = word
    else holder.claims[#holder.claims + 1] = word end
  end
  return holder
end

local function write_holder(hash, holder)
  local words = { holder.incarnation, show(holder.version), holder.has }
  for _, claim in ipairs(holder.claims) do words[#words + 1] = claim end
  redis.call('HSET', HOLDERS, hash, table.concat(words, ' '))
end

local function holder_of(hash)
  local holder = read_holder(hash)
  return holder and holder.incarnation
end

-- Whether the account has not the key, and no change that may give it is on its way.
local function is_free(holder, now)
  if holder.has == '1' then return false end
  for _, claim in ipairs(holder.claims) do
    if now - tonumber(string.match(claim, '@(.*)$')) < CLAIMED then return false end
  end
  return true
end

-- Why these keys, from ARGV[from] on, cannot be those of the account, if they cannot.
local function refuse_keys(incarnation, from, now)
  for index = from, #ARGV do
    local holder = read_holder(ARGV[index])
    if holder and holder.incarnation ~= incarnation and not is_free(holder, now) then
      if redis.call('HEXISTS', DOOMED, holder.incarnation) == 1 then return { 'dying', holder.incarnation } end
      return { 'held', index - from, redis.call('HGET', NAMES, holder.incarnation) }
    end
  end
  return nil
end

-- Gives keys to an account that has them (without a claim), or is perhaps going to have them.
local function hold_keys(incarnation, claim, from)
  local held = {}
  for hash in string.gmatch(redis.call('HGET', HELD, incarnation) or '', '[^\n]+') do held[#held + 1] = hash end
  for index = from, #ARGV do
    local holder = read_holder(ARGV[index])
    if not holder or holder.incarnation ~= incarnation then
      holder = { incarnation = incarnation, version = claim and 0 or 1, has = claim and '0' or '1', claims = {} }
      held[#held + 1] = ARGV[index]
    end
    if claim and holder.claims[#holder.claims] ~= claim then holder.claims[#holder.claims + 1] = claim end
    write_holder(ARGV[index], holder)
  end
  if #held > 0 then redis.call('HSET', HELD, incarnation, table.concat(held, '\n')) end
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

-- Accounts that somebody has begun to delete a while ago, and has not finished.
local function list_doomed(now)
  local stale = {}
  if redis.call('HLEN', DOOMED) == 0 then return stale end
  local all = redis.call('HGETALL', DOOMED)
  for index = 1, #all, 2 do
    local since = tonumber(string.match(all[index + 1], '[^ ]+$'))
    if math.abs(now - since) > 10000 and #stale < 10 then stale[#stale + 1] = all[index] end
  end
  return stale
end
