-- The common part of all scripts about the list of accounts. An account is identified by its incarnation, which is
-- never used again. Ids and keys of an account that is being deleted stay taken until its data is gone.
-- ACCOUNTS: id → incarnation. NAMES: incarnation → id. HOLDERS: hash of a key → incarnation, the newest version with
-- known state of the key, that state (1: held, 0: not), and changes that may add or remove it, each with the time.
-- HELD: incarnation → hashes of its keys. ORDER: by creation. UNCHANGED, CHANGED: evictable accounts by last use. USED:
-- time of it. DOOMED: accounts in deletion → for which account, and since when. DYING: their ids.
local ACCOUNTS, NAMES, HOLDERS, HELD, ORDER = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local UNCHANGED, CHANGED, USED, DOOMED, DYING, NUMBERS = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]

local function show(number)
  return string.format('%.17g', number)
end

-- The time in milliseconds. Tests pass their own time.
local function read_time(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- In milliseconds, how long a change claims the keys that it adds or removes.
local CLAIMED = 3600000

-- The account that holds a key, with its claims.
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

-- Whether the account does not have the key, and no change that may add it is under way.
local function is_free(holder, now)
  if holder.has == '1' then return false end
  for _, claim in ipairs(holder.claims) do
    if now - tonumber(string.match(claim, '@(.*)$')) < CLAIMED then return false end
  end
  return true
end

-- The refusal of the keys from ARGV[from] on, if another account has one of them.
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

-- Gives keys to an account that has them (no claim), or may get them (claim).
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

-- Records that an evictable account is used.
local function use(incarnation, now)
  for _, queue in ipairs({ UNCHANGED, CHANGED }) do
    if redis.call('ZSCORE', queue, incarnation) then
      -- Milliseconds could not order uses that follow each other fast.
      redis.call('ZADD', queue, redis.call('HINCRBY', NUMBERS, 'uses', 1), incarnation)
      redis.call('HSET', USED, incarnation, show(now))
      return true
    end
  end
  return false
end

-- The account to evict now, if there is one. A changed account qualifies only if it was idle.
local function find_evicted(now, idle)
  local victim = redis.call('ZRANGE', UNCHANGED, 0, 0)[1]
  if victim then return victim end
  victim = redis.call('ZRANGE', CHANGED, 0, 0)[1]
  if not victim or idle == '' then return nil end
  -- If the clock was set back since then, the account must not be kept until the clock shows that time again.
  local age = math.abs(now - tonumber(redis.call('HGET', USED, victim) or 0))
  if age < tonumber(idle) then return nil end
  return victim
end

-- Accounts whose deletion began a while ago, and is not finished.
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
