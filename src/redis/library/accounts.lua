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

-- How many records of changes are kept, and how many bytes of them.
local RECORDS = 1000
local BYTES = 1048576
-- In microseconds, how long other servers wait for a change that was too late too often.
local TURN = 1000000
-- In milliseconds, how long a late command is recognized, and how long the parts of an unfinished account are kept.
local LATE = 60000
-- In milliseconds since the Unix epoch, see domain/limits.ts.
local LAST_INSTANT = 253402300799999
-- How many windows one request removes. Each is part of what can be undone.
local FORGOTTEN = 1000
-- How many texts one command takes at most: the stack of Lua is limited.
local CHUNK = 6000
-- How many changes of counters are undone at most.
local UNDONE = 10000

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

-- Multiplies 32-bit words like `Math.imul`: a number of Lua has 53 bits.
local function multiply(a, b)
  a, b = a % 4294967296, b % 4294967296
  local low, high = a % 65536, math.floor(a / 65536)
  return (low * b + (high * b % 65536) * 65536) % 4294967296
end

-- A permutation of the 32-bit words, see ground/chance.ts.
local function scramble(word)
  local mixed = bit.bxor(word, bit.rshift(word, 16))
  mixed = multiply(mixed, 2246822507)
  mixed = bit.bxor(mixed, bit.rshift(mixed, 13))
  mixed = multiply(mixed, 3266489909)
  return bit.bxor(mixed, bit.rshift(mixed, 16)) % 4294967296
end

-- A number from 0 to 1, exclusive. The four words stand for the text before the ordinal.
local function draw(a, b, c, d, ordinal)
  for unit in string.gmatch(show(ordinal), '.') do
    local code = string.byte(unit)
    a = bit.bxor(b, multiply(bit.bxor(a, code), 597399067))
    b = bit.bxor(c, multiply(bit.bxor(b, code), 2869860233))
    c = bit.bxor(d, multiply(bit.bxor(c, code), 951274213))
    d = bit.bxor(a, multiply(bit.bxor(d, code), 2716044179))
  end
  return scramble(bit.bxor(a, c)) / 4294967296
end

local function read_hits(text)
  if not text then return nil, nil end
  local colon = string.find(text, ':', 1, true)
  return tonumber(string.sub(text, 1, colon - 1)), tonumber(string.sub(text, colon + 1))
end

-- The changes since the caller's version: 0 for none, a list of log records, or 1 if the log does not reach back so
-- far. Versions are compared by the operation that made them, because a store that was restored from a backup uses
-- version numbers again. The old values of parts are left out, and counts are.
local function changes_since(base, incarnation, version, token, present)
  if token == present then return 0 end
  if version == '0' then return 1 end
  local records = redis.call('XRANGE', of(base, incarnation, 'log'), version .. '-0', '+')
  local first = records[1]
  if not first or first[1] ~= version .. '-0' or first[2][2] ~= token then return 1 end
  local changes = {}
  for index = 2, #records do
    local fields = records[index][2]
    -- A change without its parts, because there were too many of them.
    if fields[3] == '!' then return 1 end
    if fields[1] == 'o' then
      local present_parts = {}
      for at = 3, #fields, 2 do
        local sign = string.sub(fields[at], 1, 1)
        -- The old value of a part precedes the new value. An old value alone means that the part is removed.
        if sign == '+' then
          present_parts[#present_parts + 1] = fields[at]
          present_parts[#present_parts + 1] = fields[at + 1]
        elseif sign == '-' and fields[at + 2] ~= '+' .. string.sub(fields[at], 2) then
          present_parts[#present_parts + 1] = fields[at]
          present_parts[#present_parts + 1] = ''
        end
      end
      changes[#changes + 1] = { records[index][1], present_parts }
    end
  end
  return changes
end

-- The record of an operation in the log, if there is one.
local function find_record(base, incarnation, operation)
  for _, record in ipairs(redis.call('XREVRANGE', of(base, incarnation, 'log'), '+', '-', 'COUNT', RECORDS)) do
    if record[2][2] == operation then return record end
  end
  return nil
end

-- Appends a record to the log. If the records become too long, the older half is removed. Returns the bytes of the log.
local function log_record(base, incarnation, id, fields, bytes)
  local log = of(base, incarnation, 'log')
  redis.call('XADD', log, 'MAXLEN', '=', RECORDS, id, unpack(fields))
  for index = 3, #fields do bytes = bytes + #fields[index] end
  while bytes > BYTES do
    redis.call('XTRIM', log, 'MAXLEN', '=', math.max(1, math.floor(redis.call('XLEN', log) / 2)))
    local kept = redis.call('XRANGE', log, '-', '+')
    bytes = 0
    for _, record in ipairs(kept) do
      for index = 3, #record[2] do bytes = bytes + #record[2][index] end
    end
    if #kept == 1 then break end
  end
  return bytes
end

-- A command without a reply is sent again, and its first attempt may arrive later. So the head remembers the last
-- operations of each server, in slots that it uses in turn. `known` is the text in the slot of the operation. `server` is
-- the time when the server has joined, in microseconds, a dot and its name: servers of earlier had the same slots. Returns
-- what the operation has answered; nothing if it was not done; or that this is unknown, because a later one was done.
local function recognize(known, server, number, attempt)
  if not known then return nil end
  local last, by, answered = string.match(known, '^(%d+) (%S+) (.*)$')
  if by == server then
    if last == number then return answered end
    if tonumber(last) > tonumber(number) then return nil, true end
  elseif attempt ~= '1' and tonumber(string.match(by, '^%d+')) >= tonumber(string.match(server, '^%d+')) then
    return nil, true
  end
  return nil
end

local function write_memory(server, number, answered)
  return number .. ' ' .. server .. ' ' .. answered
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
  if id then end_journal(base, incarnation, id) end
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

-- The changes since the copy of the caller.
declare('look', { 'no-writes' }, function(base, args)
  local incarnation, version, token = unpack(args, 1, 3)
  local head = redis.call('HMGET', of(base, incarnation, 'head'), '#v', '#t', '#g')
  if not head[1] then return { 'gone' } end
  return { 'ok', head[1], head[2], head[3], changes_since(base, incarnation, version, token, head[2]) }
end)

-- Lets a request enter an account. It counts the request as planned, and returns the changes since the caller's copy.
-- Requests are answered also without free memory, because they add very little data. The JavaScript in
-- domain/counting.ts counts the same: it computes the new counts from the old values.
-- Arguments: incarnation, slot, server, number of the operation, attempt, version, token and gate of the copy, token
-- that the copy has after all changes that are under way, test time, frozen, clock, counted, longest window, then the
-- charge and the rules of the plan.
declare('enter', { 'allow-oom' }, function(base, args)
  local incarnation, slot, server, number, attempt, version, token, gate, expected, given = unpack(args, 1, 10)
  local frozen, clock, is_counted, longest = args[11], tonumber(args[12]), args[13], tonumber(args[14])
  local bucket, charged = args[15], args[16]
  local FIRST_RULE, RULE_SIZE = 23, 9
  local head = of(base, incarnation, 'head')

  local names = { '#v', '#t', '#g', '#n', '#s', '#r', '#q', '#p', slot, 'q' .. bucket }
  for index = FIRST_RULE, #args, RULE_SIZE do names[#names + 1] = 't' .. args[index] end
  local known = redis.call('HMGET', head, unpack(names))
  if not known[1] then return { 'gone' } end

  local function answer(outcome, told)
    -- Changes that the caller sent before this request are already known to it.
    if outcome == 'ok' and expected == known[2] and known[3] == gate then return told end
    local news = expected == known[2] and 0 or changes_since(base, incarnation, version, token, known[2])
    return { outcome, told, known[1], known[2], known[3], news }
  end

  -- The request counts as it was planned at the first attempt, also if the account has changed since then.
  local told, is_late = recognize(known[9], server, number, attempt)
  if told then return answer('ok', told) end
  if is_late then return { 'late' } end
  local real = read_micros(given, known[6])
  -- If a charge or a rule was changed meanwhile, the request must be planned again.
  if known[3] ~= gate then return answer('stale', show(real)) end
  if is_counted == '0' then return answer('ok', show(real) .. ' ' .. known[4] .. ' ' .. known[5]) end

  local now = frozen == '1' and clock or math.floor(real / 1000) + clock
  -- Clocks stand still at the last instant.
  now = math.min(now, LAST_INSTANT)
  local sequence = show(tonumber(known[5]) + 1)
  local undo = { sequence .. ' n', known[4] }
  local changed = { '#n', show(tonumber(known[4]) + 1), '#s', sequence, '#r', show(real) }
  local function note(name, text)
    undo[#undo + 1] = name
    undo[#undo + 1] = text or ''
  end
  local function set(name, text)
    changed[#changed + 1] = name
    changed[#changed + 1] = text
  end

  local former, allowed = bucket ~= '' and known[10], true
  if charged == '1' then
    local limit, window = tonumber(args[17]), tonumber(args[20])
    local started, used = read_hits(former)
    local begins = not started or now < started or now >= started + window
    if begins then
      used = 0
      started = args[21] == '1' and math.floor(now / window) * window or now
    end
    if now < tonumber(args[19]) then limit = tonumber(args[18]) end
    allowed = used < limit or args[22] == '0'
    if allowed then used = used + 1 end
    note('q' .. bucket, former)
    set('q' .. bucket, show(started) .. ':' .. show(used))
    local size = tonumber(known[7] or 0) + (former and 0 or 1)
    -- When a window begins, windows that are over are removed. If there are many, this waits until their number has
    -- doubled, so that the cost of a request does not depend on the number of windows.
    if begins and size > 1 and (size <= 64 or size >= tonumber(known[8] or 0)) then
      local fields, removed = redis.call('HGETALL', head), {}
      size = former and 0 or 1
      for index = 1, #fields, 2 do
        if string.sub(fields[index], 1, 1) == 'q' then
          size = size + 1
          local begun = read_hits(fields[index + 1])
          local is_over = begun <= now - longest or begun > now
          if fields[index] ~= 'q' .. bucket and is_over and #removed < FORGOTTEN then
            note(fields[index], fields[index + 1])
            removed[#removed + 1] = fields[index]
          end
        end
      end
      if #removed > 0 then redis.call('HDEL', head, unpack(removed)) end
      size = size - #removed
      if size > 32 then set('#p', show(#removed < FORGOTTEN and 2 * size or size)) end
      set('#q', show(size))
    elseif not former then
      set('#q', show(size))
    end
  elseif bucket ~= '' then
    note('h', former)
  end

  if allowed then
    local place = 10
    for index = FIRST_RULE, #args, RULE_SIZE do
      place = place + 1
      local tally = known[place]
      note('t' .. args[index], tally)
      local matched, hits = 0, 0
      if tally then matched, hits = read_hits(tally) end
      if hits < tonumber(args[index + 2]) and now < tonumber(args[index + 4]) then
        matched = matched + 1
        local acts = matched > tonumber(args[index + 1])
        local probability = tonumber(args[index + 3])
        if acts and probability < 1 then
          local a, b, c, d = unpack(args, index + 5, index + 8)
          acts = draw(tonumber(a), tonumber(b), tonumber(c), tonumber(d), matched) < probability
        end
        if acts then hits = hits + 1 end
        set('t' .. args[index], show(matched) .. ':' .. show(hits))
        if acts then break end
      end
    end
  end
  told = show(real) .. ' ' .. known[4] .. ' ' .. known[5] .. ' ' .. table.concat(undo, '\n')
  set(slot, write_memory(server, number, told))
  redis.call('HSET', head, unpack(changed))
  return answer('ok', told)
end)

-- Changes an account if no other change followed the version on which the change was decided. Optionally, it replaces
-- the counters in the same step.
-- Arguments: incarnation, operation, attempt, version, token, whether plans depend on the change, the asking server,
-- whether it wants the next turn, test time, whether counters are replaced, the number of requests; the lengths of the
-- lists that follow, and these: parts with values, removed parts, removed and added key hashes, removed rules, new
-- counters with values.
declare('change', {}, function(base, args)
  local incarnation, operation, attempt, version, token, is_gate, who, wants_turn, given, is_replaced, requests =
    unpack(args, 1, 11)
  local sets, deletions, losses, gains, rules, counters = unpack(args, 12, 17)
  local at_set = 17
  local at_deletion = at_set + 2 * tonumber(sets)
  local at_loss = at_deletion + tonumber(deletions)
  local at_gain = at_loss + tonumber(losses)
  local at_rule = at_gain + tonumber(gains)
  local at_counter = at_rule + tonumber(rules)
  local at_end = at_counter + 2 * tonumber(counters)
  local head, parts, keys = of(base, incarnation, 'head'), of(base, incarnation, 'parts'), all(base, 'keys')

  local known = redis.call('HMGET', head, '#v', '#t', '#g', '#n', '#s', '#b', '#turn', '#e', '#c', '#k', '#q')
  if not known[1] then return { 'gone' } end
  local function changes()
    return changes_since(base, incarnation, version, token, known[2])
  end
  if attempt ~= '1' then
    local record = find_record(base, incarnation, operation)
    if record then
      return { 'ok', string.match(record[1], '^%d+'), known[1], known[2], known[3], changes() }
    end
    -- If the log does not reach back to the version that it would have made, its record may have been removed.
    local own = show(tonumber(version) + 1) .. '-0'
    local reaches = redis.call('XRANGE', of(base, incarnation, 'log'), '-', own, 'COUNT', 1)[1]
    if known[2] ~= token and not reaches then return { 'late' } end
  end
  local holder, ends = string.match(known[7] or '', '^(%S+) (%S+)$')
  local left = holder and tonumber(ends) - read_micros(given) or 0
  -- A clock that was set back does not make a turn longer.
  local is_held = holder ~= nil and holder ~= who and left > 0 and left <= TURN
  if known[2] ~= token or is_held then
    -- A change that takes long to decide would always lose against fast changes. So a server that has lost often gets a
    -- turn, and the other servers wait.
    if wants_turn == '1' and not is_held then
      redis.call('HSET', head, '#turn', who .. ' ' .. show(read_micros(given) + TURN))
    end
    return { 'conflict', known[1], known[2], known[3], changes(), is_held and '1' or '0' }
  end
  -- A part of the state would look like the whole.
  if redis.call('HEXISTS', parts, '.id') == 0 then return { 'damaged' } end
  if at_rule > at_gain and is_lost(base) then return LOST end
  for index = at_gain + 1, at_rule do
    local other = redis.call('HGET', keys, args[index])
    local id = other and other ~= incarnation and redis.call('HGET', of(base, other, 'head'), '#id')
    if id then return { 'held', index - at_gain - 1, id } end
  end

  local record = { 'o', operation }
  local function log(name, text)
    record[#record + 1] = name
    record[#record + 1] = text
  end
  -- A change that is too large for a record cannot be undone, and nothing before it can.
  local is_large = at_loss - at_set > 1500
  if not is_large and at_loss > at_set then
    local touched, size = {}, 0
    for index = at_set + 1, at_deletion, 2 do touched[#touched + 1] = args[index] end
    for index = at_deletion + 1, at_loss do touched[#touched + 1] = args[index] end
    local former = redis.call('HMGET', parts, unpack(touched))
    for index, name in ipairs(touched) do
      local text = index <= tonumber(sets) and args[at_set + 2 * index]
      size = size + 2 * #name + #(former[index] or '') + #(text or '')
      if former[index] then log('-' .. name, former[index]) end
      if text then log('+' .. name, text) end
    end
    is_large = size > BYTES / 4
  end
  if is_large then record = { 'o', operation, '!', '' } end
  call_with('HSET', parts, args, at_set + 1, at_deletion)
  call_with('HDEL', parts, args, at_deletion + 1, at_loss)

  local next_version = show(tonumber(known[1]) + 1)
  local changed = { '#v', next_version, '#t', operation, '#c', '1' }
  local function set(name, text)
    changed[#changed + 1] = name
    changed[#changed + 1] = text
  end

  -- The counters of removed keys and rules, or all, are removed.
  local undo, removed, windows = { 'n', known[4] }, {}, tonumber(known[11] or 0)
  local function forget(name, text)
    undo[#undo + 1] = name
    undo[#undo + 1] = text
    removed[#removed + 1] = name
    if string.sub(name, 1, 1) == 'q' then windows = windows - 1 end
  end
  if is_replaced == '1' or at_gain > at_loss then
    local fields = redis.call('HGETALL', head)
    for index = 1, #fields, 2 do
      local letter = string.sub(fields[index], 1, 1)
      local is_lost = is_replaced == '1' and (letter == 'q' or letter == 't')
      for each = at_loss + 1, at_gain do
        local prefix = 'q' .. args[each] .. ' '
        is_lost = is_lost or string.sub(fields[index], 1, #prefix) == prefix
      end
      if is_lost then forget(fields[index], fields[index + 1]) end
    end
  end
  if is_replaced ~= '1' then
    for index = at_rule + 1, at_counter do
      local text = redis.call('HGET', head, 't' .. args[index])
      if text then forget('t' .. args[index], text) end
    end
  end
  call_with('HDEL', head, removed, 1, #removed)
  for index = at_counter + 1, at_end, 2 do
    -- If a name comes twice, the first one is the old value.
    undo[#undo + 1] = args[index]
    undo[#undo + 1] = ''
    if string.sub(args[index], 1, 1) == 'q' then windows = windows + 1 end
  end
  call_with('HSET', head, args, at_counter + 1, at_end)
  if #undo > 2 or is_replaced == '1' then
    local sequence = show(tonumber(known[5]) + 1)
    set('#s', sequence)
    set('#q', show(windows))
    log('~', sequence .. ' ' .. table.concat(undo, '\n'))
    if requests ~= '' then set('#n', requests) end
  end

  if at_rule > at_loss then
    local lost, held = {}, {}
    for index = at_loss + 1, at_gain do
      lost[args[index]] = true
      if redis.call('HGET', keys, args[index]) == incarnation then redis.call('HDEL', keys, args[index]) end
    end
    for hash in string.gmatch(known[10], '[^\n]+') do if not lost[hash] then held[#held + 1] = hash end end
    for index = at_gain + 1, at_rule do
      held[#held + 1] = args[index]
      redis.call('HSET', keys, args[index], incarnation)
    end
    set('#k', table.concat(held, '\n'))
  end
  if is_gate == '1' then set('#g', operation) end
  set('#b', show(log_record(base, incarnation, next_version .. '-0', record, tonumber(known[6]))))
  if is_large then redis.call('XTRIM', of(base, incarnation, 'log'), 'MINID', '=', next_version .. '-0') end
  redis.call('HSET', head, unpack(changed))
  if holder then redis.call('HDEL', head, '#turn') end
  if known[8] == '1' then use_changed(base, incarnation, given, known[9] == '0') end
  return { 'ok', next_version, next_version, operation, is_gate == '1' and operation or known[3], 0 }
end)

-- The counters with their names, and the changes since the copy of the caller.
declare('counters', { 'no-writes' }, function(base, args)
  local incarnation, version, token = unpack(args, 1, 3)
  local fields, named, counters = redis.call('HGETALL', of(base, incarnation, 'head')), {}, {}
  for index = 1, #fields, 2 do
    local letter = string.sub(fields[index], 1, 1)
    if letter == '#' then named[fields[index]] = fields[index + 1] end
    if letter == 'q' or letter == 't' then
      counters[#counters + 1] = fields[index]
      counters[#counters + 1] = fields[index + 1]
    end
  end
  if not named['#v'] then return { 'gone' } end
  local changes = changes_since(base, incarnation, version, token, named['#t'])
  return { 'ok', named['#v'], named['#t'], named['#g'], changes, named['#n'], named['#s'], counters }
end)

-- Sets counters if they, and the account, have not changed since the caller read them.
-- Arguments: incarnation, slot, server, number, attempt, token, sequence, number of requests, test time, then triples: a
-- counter, the old text, the new text; an empty text means no counter.
declare('recount', {}, function(base, args)
  local incarnation, slot, server, number, attempt, token, sequence, requests, given = unpack(args, 1, 9)
  local head = of(base, incarnation, 'head')
  local known = redis.call('HMGET', head, '#v', '#t', '#s', '#n', '#e', '#c', '#b', '#q', slot)
  if not known[1] then return { 'gone' } end
  local told, is_late = recognize(known[9], server, number, attempt)
  if told then return { told } end
  if is_late then return { 'late' } end
  -- Each change of the counters increases the sequence.
  if known[2] ~= token or known[3] ~= sequence then return { 'conflict' } end
  local undo, windows = { 'n', known[4] }, tonumber(known[8] or 0)
  for index = 10, #args, 3 do
    local name, before, after = unpack(args, index, index + 2)
    if after == '' then redis.call('HDEL', head, name) else redis.call('HSET', head, name, after) end
    if string.sub(name, 1, 1) == 'q' then
      windows = windows + (after == '' and 0 or 1) - (before == '' and 0 or 1)
    end
    undo[#undo + 1] = name
    undo[#undo + 1] = before
  end
  local next_sequence = show(tonumber(sequence) + 1)
  local fields = { 'c', '', '~', next_sequence .. ' ' .. table.concat(undo, '\n') }
  local bytes = log_record(base, incarnation, known[1] .. '-*', fields, tonumber(known[7]))
  redis.call('HSET', head, '#n', requests, '#s', next_sequence, '#c', '1', '#b', show(bytes), '#q', show(windows),
    slot, write_memory(server, number, 'ok'))
  if known[5] == '1' then use_changed(base, incarnation, given, known[6] == '0') end
  return { 'ok' }
end)

-- Takes one charge back if its window has not ended: incarnation, slot, server, number, attempt, bucket, begin of the
-- window.
declare('refund', { 'allow-oom' }, function(base, args)
  local incarnation, slot, server, number, attempt, bucket, started = unpack(args, 1, 7)
  local head = of(base, incarnation, 'head')
  local known = redis.call('HMGET', head, '#v', '#s', '#n', '#b', slot, 'q' .. bucket)
  if not known[1] then return { 'gone' } end
  local told, is_late = recognize(known[5], server, number, attempt)
  if told then return { 'ok', told } end
  if is_late then return { 'late' } end
  local begun, used = read_hits(known[6])
  if begun ~= tonumber(started) or used == 0 then return { 'none' } end
  local sequence, left = show(tonumber(known[2]) + 1), show(used - 1)
  local undo = table.concat({ sequence .. ' n', known[3], 'q' .. bucket, known[6] }, '\n')
  local bytes = log_record(base, incarnation, known[1] .. '-*', { 'c', '', '~', undo }, tonumber(known[4]))
  redis.call('HSET', head, 'q' .. bucket, show(begun) .. ':' .. left, '#s', sequence, '#b', show(bytes),
    slot, write_memory(server, number, left))
  return { 'ok', left }
end)

-- Copies an account with its counters, and keeps the copy under a name. The data stays on the server.
-- Arguments: incarnation, slot, server, number, attempt, name of the copy, name of the snapshot, limit, whether it may
-- replace another one, test time.
declare('take_snapshot', {}, function(base, args)
  local incarnation, slot, server, number, attempt, copy, name, limit, may_replace, given = unpack(args, 1, 10)
  local head, parts, snapshots = of(base, incarnation, 'head'), of(base, incarnation, 'parts'),
    of(base, incarnation, 'snapshots')
  local fields, named, counters = redis.call('HGETALL', head), {}, {}
  for index = 1, #fields, 2 do
    local letter = string.sub(fields[index], 1, 1)
    if letter == 'q' or letter == 't' then
      counters[#counters + 1] = fields[index]
      counters[#counters + 1] = fields[index + 1]
    else
      named[fields[index]] = fields[index + 1]
    end
  end
  if not named['#v'] then return { 'gone' } end
  if redis.call('HEXISTS', parts, '.id') == 0 then return { 'damaged' } end
  local told, is_late = recognize(named[slot], server, number, attempt)
  if told then return { 'ok', told } end
  if is_late then return { 'late' } end
  local known = redis.call('HGET', snapshots, name)
  if known and may_replace == '0' then return { 'taken' } end
  if not known and redis.call('HLEN', snapshots) >= tonumber(limit) then return { 'too-many' } end

  local real = math.floor(read_micros(given, named['#r']) / 1000)
  local written = redis.call('HGET', parts, '.clock')
  if not written then return { 'damaged' } end
  local clock = cjson.decode(written)
  -- The names of domains begin with `d`, those of groups with `g`.
  local domains, groups = 0, 0
  for _, field in ipairs(redis.call('HKEYS', parts)) do
    local letter = string.byte(field)
    if letter == 100 then domains = domains + 1 elseif letter == 103 then groups = groups + 1 end
  end
  redis.call('COPY', parts, of(base, incarnation, 'snapshot:' .. copy .. ':parts'))
  call_with('HSET', of(base, incarnation, 'snapshot:' .. copy .. ':counters'), counters, 1, #counters)
  if known then
    local former = 'snapshot:' .. string.match(known, '^%d+ (%S+)')
    redis.call('UNLINK', of(base, incarnation, former .. ':parts'), of(base, incarnation, former .. ':counters'))
  end
  local now = math.min(clock.frozenAt or real + clock.offset, LAST_INSTANT)
  local ordinal = show(tonumber(named['#i'] or 0) + 1)
  local summary = table.concat({ ordinal, copy, show(now), domains, groups }, ' ')
  redis.call('HSET', snapshots, name, summary)
  redis.call('HSET', head, '#i', ordinal, '#c', '1', slot, write_memory(server, number, summary))
  if named['#e'] == '1' then use_changed(base, incarnation, given, named['#c'] == '0') end
  return { 'ok', summary }
end)

-- Deletes a snapshot: incarnation, slot, server, number, attempt, name.
declare('delete_snapshot', { 'allow-oom' }, function(base, args)
  local incarnation, slot, server, number, attempt, name = unpack(args, 1, 6)
  local head, snapshots = of(base, incarnation, 'head'), of(base, incarnation, 'snapshots')
  local state = redis.call('HMGET', head, '#v', slot)
  if not state[1] then return { 'gone' } end
  local told, is_late = recognize(state[2], server, number, attempt)
  if told then return { told } end
  if is_late then return { 'late' } end
  local known = redis.call('HGET', snapshots, name)
  if not known then return { 'none' } end
  local copy = 'snapshot:' .. string.match(known, '^%d+ (%S+)')
  redis.call('UNLINK', of(base, incarnation, copy .. ':parts'), of(base, incarnation, copy .. ':counters'))
  redis.call('HDEL', snapshots, name)
  redis.call('HSET', head, slot, write_memory(server, number, 'ok'))
  return { 'ok' }
end)

-- The data for the state of an account at an earlier moment: the records of the changes up to the caller's copy, and
-- the texts that undo the counts since the moment, the latest first. All of them must be known.
-- Arguments: incarnation, version, token and sequence of the moment, version and token of the copy.
declare('recall', { 'no-writes' }, function(base, args)
  local incarnation, version, token, sequence = args[1], tonumber(args[2]) or 0, args[3], tonumber(args[4])
  local copy_version, copy_token = tonumber(args[5]), args[6]
  local fields, counters, present, undone = redis.call('HGETALL', of(base, incarnation, 'head')), {}, nil, {}
  local function note(text)
    local number = tonumber(string.match(text, '^(%d+) n\n') or 0)
    -- If a restored server has given a number twice, it is unknown which change is meant.
    if number > sequence then undone[number] = (undone[number] or text) == text and text or '' end
  end
  for index = 1, #fields, 2 do
    local letter, text = string.sub(fields[index], 1, 1), fields[index + 1]
    if letter == 'q' or letter == 't' then
      counters[#counters + 1] = fields[index]
      counters[#counters + 1] = text
    elseif letter == '@' then
      -- What `enter` has answered: time, requests, sequence, and what undoes it.
      note(string.match(text, '^%S+ %S+ %S+ %S+ %S+ (.*)$') or '')
    elseif fields[index] == '#s' then
      present = tonumber(text)
    end
  end
  if not present then return { 'gone' } end
  if present < sequence or present - sequence > UNDONE then return { 'unknown' } end

  -- Versions are compared by the operation that made them, see `changes_since`.
  local changes, last, is_known = {}, 0, token == copy_token
  -- The version may be later than the counters: a write names the one on which it was decided.
  for _, record in ipairs(redis.call('XRANGE', of(base, incarnation, 'log'), '-', '+')) do
    local number, texts = tonumber(string.match(record[1], '^%d+')), record[2]
    for at = 3, #texts, 2 do if texts[at] == '~' then note(texts[at + 1]) end end
    if texts[1] == 'o' and number >= version and number <= copy_version then
      if last == 0 and (number ~= version or texts[2] ~= token) then return { 'unknown' } end
      if last > 0 and (number ~= last + 1 or texts[3] == '!') then return { 'unknown' } end
      if last > 0 then changes[#changes + 1] = texts end
      last = number
      is_known = number == copy_version and texts[2] == copy_token
    end
  end
  if not is_known then return { 'unknown' } end

  local texts, is_read = {}, false
  for number = present, sequence + 1, -1 do
    if not undone[number] and not is_read then
      is_read = true
      for _, record in ipairs(redis.call('XREVRANGE', of(base, incarnation, 'journal'), '+', '-')) do
        for at = 1, #record[2], 2 do if record[2][at] == 'u' then note(record[2][at + 1]) end end
      end
    end
    if (undone[number] or '') == '' then return { 'unknown' } end
    texts[#texts + 1] = undone[number]
  end
  return { 'ok', changes, texts, counters }
end)
