-- The counts of requests. The JavaScript in domain/counting.ts counts the same.

-- In milliseconds since the Unix epoch, see domain/limits.ts.
local LAST_INSTANT = 253402300799999
-- How many windows one request removes. Each is part of what can be undone.
local FORGOTTEN = 1000

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

-- A command without a reply is sent again, and its first attempt may arrive later. So the head remembers the last
-- operations of each server, in slots that it uses in turn. `known` is the text in the slot of the operation. `server` is
-- the time when the server has joined, in microseconds, a dot and its name: servers of earlier had the same slots. Returns
-- what the operation has answered; nothing if it was not done; or that this is unknown, because a later one was done.
local function recognize(known, server, number, attempt)
  if not known then return nil end
  local last, by, rest = string.match(known, '^(%d+) (%S+) ()')
  if by == server then
    if last == number then return string.sub(known, rest) end
    if tonumber(last) > tonumber(number) then return nil, true end
  elseif attempt ~= '1' and tonumber(string.match(by, '^%d+')) >= tonumber(string.match(server, '^%d+')) then
    return nil, true
  end
  return nil
end

local function write_memory(server, number, answered)
  return number .. ' ' .. server .. ' ' .. answered
end

-- The charge of a request, as the plan has it: the new hits, whether it is permitted, and whether a window begins.
local function charge(former, now, args)
  local limit, grace_limit, grace_ends, window = unpack(args, 17, 20)
  window = tonumber(window)
  local started, used = read_hits(former)
  local begins = not started or now < started or now >= started + window
  if begins then
    used = 0
    started = args[21] == '1' and math.floor(now / window) * window or now
  end
  local allowed = used < tonumber(now < tonumber(grace_ends) and grace_limit or limit) or args[22] == '0'
  return show(started) .. ':' .. show(allowed and used + 1 or used), allowed, begins
end

-- Removes windows that are over, but not one of them. Notes what undoes it. Returns how many were and are there.
local function prune(head, kept, now, longest, note)
  local fields, removed, size = redis.call('HGETALL', head), {}, 0
  for index = 1, #fields, 2 do
    if string.sub(fields[index], 1, 1) == 'q' then
      size = size + 1
      local begun = read_hits(fields[index + 1])
      local is_over = begun <= now - longest or begun > now
      if fields[index] ~= kept and is_over and #removed < FORGOTTEN then
        note(fields[index], fields[index + 1])
        removed[#removed + 1] = fields[index]
      end
    end
  end
  if #removed > 0 then redis.call('HDEL', head, unpack(removed)) end
  return size, size - #removed
end

-- Tries the fault rules of the plan in their order, until one acts. `tallies` are the old ones.
local function try_rules(tallies, first, now, args, note, set)
  local FIRST_RULE, RULE_SIZE = 23, 9
  for index = FIRST_RULE, #args, RULE_SIZE do
    local tally = tallies[first + (index - FIRST_RULE) / RULE_SIZE]
    note('t' .. args[index], tally or '')
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
      set('t' .. args[index], show(matched) .. ':' .. show(acts and hits + 1 or hits))
      if acts then return end
    end
  end
end

-- Lets a request enter an account. It counts the request as planned, and returns the changes since the caller's copy.
-- Requests are answered also without free memory, because they add very little data.
-- Arguments: incarnation, slot, server, number of the operation, attempt, version, token and gate of the copy, token
-- that the copy has after all changes that are under way, test time, frozen, clock, counted, longest window, then the
-- charge and the rules of the plan.
declare('enter', { 'allow-oom' }, function(base, args)
  local incarnation, slot, server, number, attempt, version, token, gate, expected, given = unpack(args, 1, 10)
  local frozen, clock, is_counted, longest, bucket, is_charged = unpack(args, 11, 16)
  local head = of(base, incarnation, 'head')
  local names = { '#v', '#t', '#g', '#n', '#s', '#r', '#q', '#p', slot, 'q' .. bucket }
  for index = 23, #args, 9 do names[#names + 1] = 't' .. args[index] end
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

  -- Clocks stand still at the last instant.
  local now = math.min(LAST_INSTANT, frozen == '1' and tonumber(clock) or math.floor(real / 1000) + tonumber(clock))
  local sequence = show(tonumber(known[5]) + 1)
  local undo, note = pairs_list(sequence .. ' n', known[4])
  local changed, set = pairs_list('#n', show(tonumber(known[4]) + 1), '#s', sequence, '#r', show(real))
  local former, allowed, begins, hits = known[10], true, false, nil
  if is_charged == '1' then
    hits, allowed, begins = charge(former, now, args)
    note('q' .. bucket, former or '')
    set('q' .. bucket, hits)
    local size, least = tonumber(known[7] or 0) + (former and 0 or 1), tonumber(known[8] or 0)
    -- When a window begins, windows that are over are removed. If there are many, this waits until their number has
    -- doubled, so that the cost of a request does not depend on the number of windows.
    if begins and size > 1 and (size <= 64 or size >= least) then
      local before, after = prune(head, 'q' .. bucket, now, tonumber(longest), note)
      size = after + (former and 0 or 1)
      if size > 32 then set('#p', show(before - after < FORGOTTEN and 2 * size or size)) end
      set('#q', show(size))
    elseif not former then
      set('#q', show(size))
    end
  elseif bucket ~= '' then
    note('h', former or '')
  end
  if allowed then try_rules(known, 11, now, args, note, set) end

  told = show(real) .. ' ' .. known[4] .. ' ' .. known[5] .. ' ' .. table.concat(undo, '\n')
  set(slot, write_memory(server, number, told))
  redis.call('HSET', head, unpack(changed))
  return answer('ok', told)
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
