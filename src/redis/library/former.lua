-- Earlier states of accounts: snapshots, and what a request has found.

-- How many changes of counters are undone at most.
local UNDONE = 10000

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
