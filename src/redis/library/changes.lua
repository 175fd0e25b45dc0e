-- The changes of accounts. The log of an account has a record of each, with the old and the new value of each part, and of
-- counts that no request made.

-- How many records of changes are kept, and how many bytes of them.
local RECORDS = 1000
local BYTES = 1048576
-- In microseconds, how long other servers wait for a change that was too late too often.
local TURN = 1000000
-- How many parts a record has at most.
local PARTS = 1500

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

-- The changes since the copy of the caller.
declare('look', { 'no-writes' }, function(base, args)
  local incarnation, version, token = unpack(args, 1, 3)
  local head = redis.call('HMGET', of(base, incarnation, 'head'), '#v', '#t', '#g')
  if not head[1] then return { 'gone' } end
  return { 'ok', head[1], head[2], head[3], changes_since(base, incarnation, version, token, head[2]) }
end)

-- Sets and removes parts. Returns the record of that for the log, and whether it is too large for one: then it cannot be
-- undone, and nothing before it can. Nothing if the state was lost: a part of it would look like the whole.
local function write_parts(parts, operation, args, at_set, at_deletion, at_end)
  local record, log = pairs_list('o', operation)
  local size, is_large = 0, (at_deletion - at_set) / 2 + at_end - at_deletion > PARTS
  local touched = { '.id' }
  if not is_large then
    for index = at_set + 1, at_deletion, 2 do touched[#touched + 1] = args[index] end
    for index = at_deletion + 1, at_end do touched[#touched + 1] = args[index] end
  end
  local former = redis.call('HMGET', parts, unpack(touched))
  if not former[1] then return nil end
  for index = 2, #touched do
    local name, place = touched[index], at_set + 2 * (index - 1)
    local text = place <= at_deletion and args[place]
    size = size + 2 * #name + #(former[index] or '') + #(text or '')
    if former[index] then log('-' .. name, former[index]) end
    if text then log('+' .. name, text) end
  end
  call_with('HSET', parts, args, at_set + 1, at_deletion)
  call_with('HDEL', parts, args, at_deletion + 1, at_end)
  if is_large or size > BYTES / 4 then return { 'o', operation, '!', '' }, true end
  return record, false
end

-- The counters, as names and values, of these hashes of keys and ids of rules, or all.
local function counters_of(head, is_all, args, at_hash, to_hash, at_rule, to_rule)
  local found, note = pairs_list()
  if is_all or to_hash > at_hash then
    local fields = redis.call('HGETALL', head)
    for index = 1, #fields, 2 do
      local letter = string.sub(fields[index], 1, 1)
      local is_wanted = is_all and (letter == 'q' or letter == 't')
      for each = at_hash + 1, to_hash do
        local prefix = 'q' .. args[each] .. ' '
        is_wanted = is_wanted or string.sub(fields[index], 1, #prefix) == prefix
      end
      if is_wanted then note(fields[index], fields[index + 1]) end
    end
  end
  for index = at_rule + 1, is_all and at_rule or to_rule do
    local text = redis.call('HGET', head, 't' .. args[index])
    if text then note('t' .. args[index], text) end
  end
  return found
end

-- Removes counters, and sets others. Returns how the number of windows changes, and what undoes it.
local function exchange_counters(head, requests, removed, args, at_counter, at_end)
  local undo, note = pairs_list('n', requests)
  local names, windows = {}, 0
  for index = 1, #removed, 2 do
    note(removed[index], removed[index + 1])
    names[#names + 1] = removed[index]
    if string.sub(removed[index], 1, 1) == 'q' then windows = windows - 1 end
  end
  call_with('HDEL', head, names, 1, #names)
  for index = at_counter + 1, at_end, 2 do
    -- If a name comes twice, the first one is the old value.
    note(args[index], '')
    if string.sub(args[index], 1, 1) == 'q' then windows = windows + 1 end
  end
  call_with('HSET', head, args, at_counter + 1, at_end)
  return windows, undo
end

-- Takes hashes of keys from the account, and gives it others. Returns all that it has then, in lines.
local function exchange_keys(base, incarnation, present, args, at_loss, at_gain, at_end)
  local keys, lost, held = all(base, 'keys'), {}, {}
  for index = at_loss + 1, at_gain do
    lost[args[index]] = true
    if redis.call('HGET', keys, args[index]) == incarnation then redis.call('HDEL', keys, args[index]) end
  end
  for hash in string.gmatch(present, '[^\n]+') do if not lost[hash] then held[#held + 1] = hash end end
  for index = at_gain + 1, at_end do
    held[#held + 1] = args[index]
    redis.call('HSET', keys, args[index], incarnation)
  end
  return table.concat(held, '\n')
end

-- Which of the hashes another account has: its place, and the id of that account.
local function find_held(base, incarnation, args, from, to)
  for index = from + 1, to do
    local other = redis.call('HGET', all(base, 'keys'), args[index])
    local id = other and other ~= incarnation and redis.call('HGET', of(base, other, 'head'), '#id')
    if id then return index - from - 1, id end
  end
  return nil
end

-- The answer to a change that was sent before; nothing if it was not done.
local function find_done(base, incarnation, operation, version, token, known)
  local record = find_record(base, incarnation, operation)
  if record then
    local news = changes_since(base, incarnation, version, token, known[2])
    return { 'ok', string.match(record[1], '^%d+'), known[1], known[2], known[3], news }
  end
  -- If the log does not reach back to the version that it would have made, its record may have been removed.
  local own = show(tonumber(version) + 1) .. '-0'
  local reaches = redis.call('XRANGE', of(base, incarnation, 'log'), '-', own, 'COUNT', 1)[1]
  if known[2] ~= token and not reaches then return { 'late' } end
  return nil
end

-- Changes an account if no other change followed the version on which the change was decided. Optionally, it replaces
-- the counters in the same step.
-- Arguments: incarnation, operation, attempt, version, token, whether plans depend on the change, the asking server,
-- whether it wants the next turn, test time, whether counters are replaced, the number of requests; the lengths of the
-- lists that follow, and these: parts with values, removed parts, removed and added key hashes, removed rules, new
-- counters with values.
declare('change', {}, function(base, args)
  local incarnation, operation, attempt, version, token, is_gate, who, wants_turn, given, is_replaced, requests =
    unpack(args, 1, 11)
  local at_set = 17
  local at_deletion = at_set + 2 * tonumber(args[12])
  local at_loss = at_deletion + tonumber(args[13])
  local at_gain = at_loss + tonumber(args[14])
  local at_rule = at_gain + tonumber(args[15])
  local at_counter = at_rule + tonumber(args[16])
  local at_end = at_counter + 2 * tonumber(args[17])
  local head = of(base, incarnation, 'head')

  local known = redis.call('HMGET', head, '#v', '#t', '#g', '#n', '#s', '#b', '#turn', '#e', '#c', '#k', '#q')
  if not known[1] then return { 'gone' } end
  local done = attempt ~= '1' and find_done(base, incarnation, operation, version, token, known)
  if done then return done end
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
    local news = changes_since(base, incarnation, version, token, known[2])
    return { 'conflict', known[1], known[2], known[3], news, is_held and '1' or '0' }
  end
  if at_rule > at_gain then
    if is_lost(base) then return LOST end
    local place, id = find_held(base, incarnation, args, at_gain, at_rule)
    if place then return { 'held', place, id } end
  end

  local record, is_large = write_parts(of(base, incarnation, 'parts'), operation, args, at_set, at_deletion, at_loss)
  if not record then return { 'damaged' } end
  local next_version = show(tonumber(known[1]) + 1)
  local changed, set = pairs_list('#v', next_version, '#t', operation, '#c', '1')
  -- The counters of removed keys and rules are removed.
  local removed = counters_of(head, is_replaced == '1', args, at_loss, at_gain, at_rule, at_counter)
  if #removed > 0 or is_replaced == '1' then
    local sequence = show(tonumber(known[5]) + 1)
    local windows, undo = exchange_counters(head, known[4], removed, args, at_counter, at_end)
    set('#s', sequence)
    set('#q', show(tonumber(known[11] or 0) + windows))
    record[#record + 1] = '~'
    record[#record + 1] = sequence .. ' ' .. table.concat(undo, '\n')
    if requests ~= '' then set('#n', requests) end
  end
  if at_rule > at_loss then
    set('#k', exchange_keys(base, incarnation, known[10], args, at_loss, at_gain, at_rule))
  end
  if is_gate == '1' then set('#g', operation) end
  set('#b', show(log_record(base, incarnation, next_version .. '-0', record, tonumber(known[6]))))
  if is_large then redis.call('XTRIM', of(base, incarnation, 'log'), 'MINID', '=', next_version .. '-0') end
  redis.call('HSET', head, unpack(changed))
  if holder then redis.call('HDEL', head, '#turn') end
  if known[8] == '1' then use_changed(base, incarnation, given, known[9] == '0') end
  return { 'ok', next_version, next_version, operation, is_gate == '1' and operation or known[3], 0 }
end)
