-- The accounts. `{INC}` is the incarnation of an account, which is never used again.
--   {INC}:head   exists as long as the account. `#v` version, `#t` operation that made it, `#g` operation that last
--                changed what plans of requests depend on, `#n` requests, `#s` changes of counters so far, `#r` latest
--                time in microseconds, `#e` evictable, `#c` changed, `#id` id, `#k` hashes of its keys, `#q` windows and
--                `#p` their number at which old ones are removed next, `#b` bytes of the log, `#turn` who changes it
--                next, `#i` snapshots so far; `qBUCKET` and `tRULE` its counters; `@SERVER.SLOT` what a server did last.
--   {INC}:parts  the state. {INC}:log its changes by version, and counts that no request made.
--   {INC}:snapshots, {INC}:snapshot:OPERATION:parts and :counters  copies of it.
--   {INC}:ended  for a while after its end, so that a late command does not make it again.
--   {all}:accounts id -> INC; keys hash -> INC; order, unchanged, changed: INC by time of creation or use; numbers.
--   Each of these has an entry without a name. A key that lacks it was lost, see `servers.lua`.
-- Undone changes of counters are texts: the number of the change, a space, then names and old values on lines of their
-- own; `n` is the number of requests. An empty value means that there was none.

-- In milliseconds, how long a late command is recognized, and how long the parts of an unfinished account are kept.
local LATE = 60000
-- How many texts one command takes at most: the stack of Lua is limited.
local CHUNK = 6000

-- Each of these keys has an entry without a name, which its deletion removes.
local HASHES, QUEUES = { 'accounts', 'keys', 'numbers' }, { 'order', 'unchanged', 'changed' }

local function find_losses(base)
  local lost = {}
  for _, name in ipairs(HASHES) do
    if redis.call('HEXISTS', all(base, name), '') == 0 then lost[#lost + 1] = name end
  end
  for _, name in ipairs(QUEUES) do
    if not redis.call('ZSCORE', all(base, name), '') then lost[#lost + 1] = name end
  end
  return lost
end

-- The refusal of what depends on lost keys: an account that is not listed may still be there. Nothing is done. The caller
-- has the keys made again, and asks again.
local LOST = { err = 'LOST The store has lost keys about all accounts' }
local function is_lost(base)
  return #find_losses(base) > 0
end

-- Calls a command with the texts from one index to another, in several steps if there are many.
local function call_with(command, key, texts, from, to)
  for first = from, to, CHUNK do
    redis.call(command, key, unpack(texts, first, math.min(to, first + CHUNK - 1)))
  end
end

-- A list of alternating names and values, as some commands take them.
local function pairs_list(...)
  local list = { ... }
  return list, function(name, value)
    list[#list + 1] = name
    list[#list + 1] = value
  end
end

-- The time of a use, in microseconds, which is later than that of all earlier uses.
local function next_use(base, queue, given)
  local last = redis.call('ZRANGE', all(base, queue), -1, -1, 'WITHSCORES')[2]
  return math.max(read_micros(given), tonumber(last or 0) + 1)
end

-- Records a use of an evictable account that is changed. From its first change on, it is evicted only if it was idle.
local function use_changed(base, incarnation, given, is_first)
  if is_first then redis.call('ZREM', all(base, 'unchanged'), incarnation) end
  redis.call('ZADD', all(base, 'changed'), show(next_use(base, 'changed', given)), incarnation)
end

-- The account to evict now, if there is one. A changed account qualifies only if it was idle for some milliseconds.
local function find_evicted(base, given, idle)
  local function oldest(queue)
    return redis.call('ZRANGE', all(base, queue), '(0', '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  end
  local victim = oldest('unchanged')[1]
  if victim then return victim end
  local changed = oldest('changed')
  if not changed[1] or idle == '' then return nil end
  -- If the clock was set back since then, the account must not be kept until the clock shows that time again.
  local now, used = math.floor(read_micros(given) / 1000), math.floor(tonumber(changed[2]) / 1000)
  if math.abs(now - used) < tonumber(idle) then return nil end
  return changed[1]
end

local function count_accounts(base)
  local accounts = all(base, 'accounts')
  return redis.call('HLEN', accounts) - redis.call('HEXISTS', accounts, '')
end

-- Removes all data of an account. `id` and `hashes` are known from its head, unless that is lost.
local function end_account(base, incarnation, id, hashes, operation)
  if id and redis.call('HGET', all(base, 'accounts'), id) == incarnation then
    redis.call('HDEL', all(base, 'accounts'), id)
  end
  for hash in string.gmatch(hashes or '', '[^\n]+') do
    if redis.call('HGET', all(base, 'keys'), hash) == incarnation then redis.call('HDEL', all(base, 'keys'), hash) end
  end
  for _, queue in ipairs({ 'order', 'unchanged', 'changed' }) do redis.call('ZREM', all(base, queue), incarnation) end
  for _, summary in ipairs(redis.call('HVALS', of(base, incarnation, 'snapshots'))) do
    local copy = 'snapshot:' .. string.match(summary, '^%d+ (%S+)')
    redis.call('UNLINK', of(base, incarnation, copy .. ':parts'), of(base, incarnation, copy .. ':counters'))
  end
  for _, name in ipairs({ 'head', 'parts', 'log', 'snapshots' }) do redis.call('UNLINK', of(base, incarnation, name)) end
  end_journal(base, incarnation, id)
  redis.call('SET', of(base, incarnation, 'ended'), operation or '', 'PX', LATE)
end

-- The id of an account, if it is known, and whether its head is there.
local function read_id(base, incarnation)
  local id = redis.call('HGET', of(base, incarnation, 'head'), '#id')
  if id then return id, true end
  -- The value of the part is JSON.
  local part = redis.call('HGET', of(base, incarnation, 'parts'), '.id')
  return part and string.sub(part, 2, -2), false
end

-- Finds an account by its id, or by the hash of a key: its incarnation, its id, and 1, or 0 if its head is lost.
declare('find', { 'no-writes' }, function(base, args)
  local incarnation = redis.call('HGET', all(base, args[1] == 'id' and 'accounts' or 'keys'), args[2])
  if not incarnation and is_lost(base) then return LOST end
  if not incarnation or args[2] == '' then return {} end
  local id, is_there = read_id(base, incarnation)
  return { incarnation, args[1] == 'id' and args[2] or id or '', is_there and 1 or 0 }
end)

-- Ids of accounts in the order of their creation: the place where the former page has ended, and how many are wanted.
-- Returns the place where this page ends, which is empty if it is the last one, and the ids. Deletions move no place.
declare('list', { 'no-writes' }, function(base, args)
  if is_lost(base) then return LOST end
  local ids = {}
  local page = redis.call('ZRANGE', all(base, 'order'), '(' .. args[1], '+inf', 'BYSCORE', 'LIMIT', 0, args[2], 'WITHSCORES')
  for index = 1, #page, 2 do
    -- The head of an account may be lost.
    ids[#ids + 1] = redis.call('HGET', of(base, page[index], 'head'), '#id') or nil
  end
  return { #page < 2 * tonumber(args[2]) and '' or page[#page], ids }
end)

-- An id that no account has or had.
declare('new_id', {}, function(base)
  if is_lost(base) then return LOST end
  while true do
    local id = 'account-' .. redis.call('HINCRBY', all(base, 'numbers'), 'ids', 1)
    if redis.call('HEXISTS', all(base, 'accounts'), id) == 0 then return id end
  end
end)

-- Whether there is room for another account: limit, idle time, test time.
declare('room', { 'no-writes' }, function(base, args)
  if is_lost(base) then return LOST end
  if args[1] == '' or count_accounts(base) < tonumber(args[1]) then return 1 end
  return find_evicted(base, args[3], args[2]) and 1 or 0
end)

-- Records uses of evictable accounts, in their order: test time, incarnations.
declare('use', { 'allow-oom' }, function(base, args)
  for _, queue in ipairs({ 'unchanged', 'changed' }) do
    local time = next_use(base, queue, args[1])
    for index = 2, #args do redis.call('ZADD', all(base, queue), 'XX', show(time + index), args[index]) end
  end
  return 1
end)

-- Keeps parts of a large account that is going to be created. They expire if that does not happen.
declare('stage', {}, function(base, args)
  local parts = of(base, args[1], 'parts')
  if redis.call('EXISTS', of(base, args[1], 'head'), of(base, args[1], 'ended')) > 0 then return 0 end
  call_with('HSET', parts, args, 2, #args)
  redis.call('PEXPIRE', parts, LATE)
  return 1
end)

-- Creates an account, and evicts another one if that must make room.
-- Arguments: incarnation, operation, id, number of its parts, limit, evictable, idle, test time, number of keys, hashes
-- of keys, then the parts that are not staged.
declare('create', {}, function(base, args)
  local incarnation, operation, id, size, limit, evictable, idle, given = unpack(args, 1, 8)
  local FIRST_KEY, LAST_KEY = 10, 9 + tonumber(args[9])
  local head, parts = of(base, incarnation, 'head'), of(base, incarnation, 'parts')
  -- The reply was lost, and the command came again.
  local done = redis.call('HMGET', head, '#v', '#evicted')
  if done[1] then return { 'ok', done[2] } end
  if redis.call('EXISTS', of(base, incarnation, 'ended')) == 1 then return { 'late' } end
  if is_lost(base) then return LOST end

  -- An account without a head is lost, and takes no name.
  local function is_there(other)
    return other and redis.call('EXISTS', of(base, other, 'head')) == 1
  end
  if is_there(redis.call('HGET', all(base, 'accounts'), id)) then return { 'taken' } end
  for index = FIRST_KEY, LAST_KEY do
    local holder = redis.call('HGET', all(base, 'keys'), args[index])
    if is_there(holder) then
      return { 'held', index - FIRST_KEY, redis.call('HGET', of(base, holder, 'head'), '#id') }
    end
  end
  if redis.call('HLEN', parts) + (#args - LAST_KEY) / 2 ~= tonumber(size) then return { 'late' } end
  local count, evicted = count_accounts(base), false
  if limit ~= '' and count >= tonumber(limit) then
    local victim = find_evicted(base, given, idle)
    if not victim then return { 'full', count } end
    evicted = read_id(base, victim)
    end_account(base, victim, evicted, redis.call('HGET', of(base, victim, 'head'), '#k'))
  end

  call_with('HSET', parts, args, LAST_KEY + 1, #args)
  redis.call('PERSIST', parts)
  redis.call('HSET', head, '#v', '1', '#t', operation, '#g', operation, '#n', '0', '#s', '0', '#r', '0', '#q', '0',
    '#b', '0', '#e', evictable, '#c', '0', '#id', id, '#k', table.concat(args, '\n', FIRST_KEY, LAST_KEY))
  if evicted then redis.call('HSET', head, '#evicted', evicted) end
  redis.call('XADD', of(base, incarnation, 'log'), '1-0', 'o', operation)
  redis.call('HSET', all(base, 'accounts'), id, incarnation)
  for index = FIRST_KEY, LAST_KEY do redis.call('HSET', all(base, 'keys'), args[index], incarnation) end
  redis.call('ZADD', all(base, 'order'), show(next_use(base, 'order', given)), incarnation)
  if evictable == '1' then
    redis.call('ZADD', all(base, 'unchanged'), show(next_use(base, 'unchanged', given)), incarnation)
  end
  return { 'ok', evicted }
end)

-- Ends an account: incarnation, operation, and the id or the hash by which a lost account was found. Returns 1 if this
-- operation has ended it, 0 if another one has, or 2 if its head was lost.
declare('finish', { 'allow-oom' }, function(base, args)
  local incarnation, operation, id, hash = unpack(args, 1, 4)
  local known = redis.call('HMGET', of(base, incarnation, 'head'), '#id', '#k')
  if known[1] then
    end_account(base, incarnation, known[1], known[2], operation)
    return 1
  end
  local ended = redis.call('GET', of(base, incarnation, 'ended'))
  if ended then return ended == operation and 1 or ended == operation .. ' lost' and 2 or 0 end
  -- The JSON is not decoded, because Lua refuses some characters that labels may have.
  local held = redis.call('HGET', of(base, incarnation, 'parts'), '.keys') or ''
  for each in string.gmatch(held, '"hash":"([^"]*)"') do hash = hash .. '\n' .. each end
  end_account(base, incarnation, id ~= '' and id, hash, operation .. ' lost')
  return 2
end)
