-- The exchanges of all servers, and what is counted of them.
-- INCARNATION journal: a stream of the exchanges of one account; all journal: of no account. The ids are ORDINAL-0.
-- INCARNATION coverage, all coverage: the coverage by them. all present: its sum. all totals: the same since the start.
-- all counts: the counts since the start, and as `cleared NAME` what they were when the verdict was last cleared.
-- all examples: the first exchanges of each kind, since the start and since the clearing.
-- all news: a stream of the batches and of the events that change journals. All servers follow it.
--
-- The exchanges are in the order of their stamps. In `counts`, `settled` is a time: later records have later stamps. So
-- whoever has read all records so far knows the order up to that time.

-- How many first exchanges of each kind are kept, see journal/politeness.ts, and how many news and questions.
local SHOWN = 10
local NEWS = 1000
-- In milliseconds, how long a batch may come again.
local REPEATED = 3600000

local function key_of(base, incarnation, name)
  return incarnation == '' and all(base, name) or of(base, incarnation, name)
end

-- The present time, which is after all settled times, also where the clock was set back.
local function read_present(settled)
  return read_micros('', tonumber(settled or 0) + 1)
end

local function read_settled(base)
  return tonumber(redis.call('HGET', all(base, 'counts'), 'settled') or 0)
end

-- Tells all servers, which have the same order of exchanges up to now.
local function tell(base, kind, id, upto)
  local now = show(read_present(read_settled(base)))
  redis.call('HSET', all(base, 'counts'), 'settled', now)
  redis.call('XADD', all(base, 'news'), 'MAXLEN', '~', NEWS, '*', 'c', kind, 'a', id, 'u', upto, 'h', now)
end

-- The greatest ordinal of any exchange, also of those that are gone.
local function find_ordinal(base)
  local greatest = 0
  local function look(key)
    local info = redis.pcall('XINFO', 'STREAM', key)
    for place = 1, #info, 2 do
      if info[place] == 'last-generated-id' then
        greatest = math.max(greatest, tonumber(string.match(info[place + 1], '^%d+')))
      end
    end
  end
  look(all(base, 'journal'))
  for _, incarnation in ipairs(redis.call('HVALS', all(base, 'accounts'))) do
    look(of(base, incarnation, 'journal'))
  end
  return greatest
end

-- Subtracts the coverage of an account from that of all accounts.
local function drop_coverage(base, incarnation)
  local key, present = of(base, incarnation, 'coverage'), all(base, 'present')
  local fields = redis.call('HGETALL', key)
  for place = 1, #fields, 2 do
    local name = fields[place]
    if name ~= 'since' and redis.call('HINCRBY', present, name, -fields[place + 1]) <= 0 then
      redis.call('HDEL', present, name)
    end
  end
  redis.call('DEL', key)
end

-- Ends the history of an account. It is a part of the step that deletes the account. The id is unknown if all of the
-- account was lost; then nobody can be told of its end.
local function end_journal(base, incarnation, id)
  redis.call('UNLINK', of(base, incarnation, 'journal'))
  drop_coverage(base, incarnation)
  if id then tell(base, 'end', id, '') end
end

-- Whether an exchange is among the first ones of its kind, since the start or since the clearing. Both count its place.
local function is_first(place, cleared)
  return place <= SHOWN or (place > cleared and place <= cleared + SHOWN)
end

-- Reads one argument after the other.
local function reader_of(args)
  local place = 0
  local function take()
    place = place + 1
    return args[place]
  end
  return {
    take = take,
    -- The range of the next fields, as many as the next argument says.
    take_range = function()
      local first = place + 2
      place = place + 1 + tonumber(args[place + 1])
      return first, place
    end,
    each = function(act)
      for index = 1, tonumber(take()) do act(index) end
    end,
  }
end

-- Appends the exchanges to their streams; nothing if a stream has later ids, as after a failover.
local function append(base, args, exchanges, first, limit)
  for index, each in ipairs(exchanges) do
    local id = show(first + index - 1) .. '-0'
    local function add()
      return redis.pcall('XADD', each.key, 'MAXLEN', '~', limit, id, 's', each.stamp, unpack(args, each.first, each.last))
    end
    local reply = add()
    if type(reply) == 'table' and reply.err then
      if string.find(reply.err, 'equal or smaller') then
        for former = 1, index - 1 do
          redis.call('XDEL', exchanges[former].key, show(first + former - 1) .. '-0')
        end
        return false
      end
      -- It is no stream, so it is no journal.
      redis.call('DEL', each.key)
      add()
    end
  end
  return true
end

-- Records a batch of a server. Its parts are in the order in which they are read here. Returns the id of its news, if it has exchanges.
declare('record', {}, function(base, args)
  local read = reader_of(args)
  local take = read.take
  local server, number, limit, lateness = take(), take(), take(), take()
  local guard = all(base, 'batch:' .. server)
  local done_number, done = string.match(redis.call('GET', guard) or '', '^(%d+) (.*)$')
  if done_number and tonumber(done_number) >= tonumber(number) then return done end

  -- The accounts, of which the first is nobody.
  local incarnations, ids, is_present = { '' }, {}, { true }
  read.each(function(index)
    incarnations[index + 1] = take()
    ids[index] = take()
  end)
  if #ids > 0 then
    for index, known in ipairs(redis.call('HMGET', all(base, 'accounts'), unpack(ids))) do
      is_present[index + 1] = known == incarnations[index + 1]
    end
  end

  local counts = all(base, 'counts')
  local names, amounts = { 'ordinal', 'settled', 'violations', 'cleared violations' }, {}
  local first_sum = #names + 1
  local places = {}
  local function add_sum(name, amount)
    if not places[name] then
      names[#names + 1] = name
      places[name] = #names
    end
    amounts[places[name]] = (amounts[places[name]] or 0) + amount
  end
  read.each(function() add_sum(take(), tonumber(take())) end)
  -- The exchanges of an account that has ended meanwhile cover nothing.
  local covered, sums = {}, {}
  read.each(function()
    local account, name, amount = tonumber(take()), take(), tonumber(take())
    if not is_present[account] then return end
    covered[#covered + 1] = { key_of(base, incarnations[account], 'coverage'), name, amount }
    sums[name] = (sums[name] or 0) + amount
  end)
  local known = redis.call('HMGET', counts, unpack(names))
  local ordinal, settled = tonumber(known[1]), tonumber(known[2] or 0)
  local violations, cleared = tonumber(known[3] or 0), tonumber(known[4] or 0)
  local fields = {}
  if not ordinal then
    ordinal = find_ordinal(base)
    redis.call('DEL', all(base, 'examples'))
    fields = { 'born', server .. ' ' .. number }
  end

  local now = read_present(settled)
  local exchanges, list, firsts = {}, {}, {}
  read.each(function(index)
    local account, stamp, is_violation = tonumber(take()), take(), take()
    if tonumber(stamp) > now then stamp = show(now) end
    if tonumber(stamp) <= settled then stamp = show(settled + 1) end
    if not is_present[account] then account = 1 end
    local place = 0
    if is_violation == '1' then
      violations = violations + 1
      if is_first(violations, cleared) then
        place = violations
        firsts[place] = index
      end
    end
    local first, last = read.take_range()
    exchanges[index] = { key = key_of(base, incarnations[account], 'journal'), stamp = stamp, first = first, last = last }
    list[index] = account .. ' ' .. stamp .. ' ' .. place
  end)
  if not append(base, args, exchanges, ordinal + 1, limit) then
    ordinal = math.max(ordinal, find_ordinal(base))
    append(base, args, exchanges, ordinal + 1, limit)
  end
  for place, index in pairs(firsts) do
    redis.call('HSET', all(base, 'examples'), 'violation ' .. place, show(ordinal + index) .. ' ')
  end
  for _, each in ipairs(covered) do redis.call('HINCRBY', unpack(each)) end
  for name, amount in pairs(sums) do
    redis.call('HINCRBY', all(base, 'present'), name, amount)
    redis.call('HINCRBY', all(base, 'totals'), name, amount)
  end
  settled = math.max(settled, now - lateness)
  for place = first_sum, #names do
    fields[#fields + 1] = names[place]
    fields[#fields + 1] = show(tonumber(known[place] or 0) + amounts[place])
  end
  redis.call('HSET', counts, 'ordinal', show(ordinal + #exchanges), 'settled', show(settled), unpack(fields))

  -- What was covered for the first time: by an exchange of an account that was not reset since.
  read.each(function()
    local account, place, name = tonumber(take()), tonumber(take()), take()
    local key = key_of(base, incarnations[account], 'coverage')
    if not is_present[account] or place <= tonumber(redis.call('HGET', key, 'since') or 0) then return end
    if redis.call('HSETNX', key, name, 1) == 1 then
      redis.call('HINCRBY', all(base, 'present'), name, 1)
      redis.call('HSET', all(base, 'totals'), name, 1)
    end
  end)
  -- Impolite requests.
  read.each(function()
    local kind, place, request = 'impolite ' .. take(), tonumber(take()), take()
    local count = redis.call('HINCRBY', counts, kind, 1)
    local former = redis.call('HMGET', counts, 'cleared ordinal', 'cleared ' .. kind)
    -- The verdict was cleared meanwhile.
    if place <= tonumber(former[1] or 0) then return redis.call('HINCRBY', counts, 'cleared ' .. kind, 1) end
    if is_first(count, tonumber(former[2] or 0)) then
      redis.call('HSET', all(base, 'examples'), kind .. ' ' .. count, show(place) .. ' ' .. request)
    end
  end)
  -- Explanations of the first violations.
  read.each(function()
    local field, place, text = 'violation ' .. take(), take() .. ' ', take()
    local present = redis.call('HGET', all(base, 'examples'), field)
    if present and string.sub(present, 1, #place) == place then
      redis.call('HSET', all(base, 'examples'), field, place .. text)
    end
  end)

  done = '0-0'
  if #list > 0 then
    done = redis.call('XADD', all(base, 'news'), 'MAXLEN', '~', NEWS, '*', 's', server, 'n', number,
      'o', show(ordinal + 1), 'k', table.concat(incarnations, ' '), 'l', table.concat(list, ','), 'h', show(settled))
  end
  redis.call('SET', guard, number .. ' ' .. done, 'PX', REPEATED)
  return done
end)

-- Where the journals are: whose contents, the last ordinal, up to when the order is known, and the last news.
declare('place', { 'no-writes' }, function(base)
  local counts = redis.call('HMGET', all(base, 'counts'), 'born', 'ordinal', 'settled')
  return { counts[1] or '', counts[2] or show(find_ordinal(base)), counts[3] or '0', redis.call('XREVRANGE', all(base, 'news'), '+', '-', 'COUNT', 1) }
end)

-- From now on, exchanges get later stamps than this, or than the present time. Returns the time. If it is told, all servers
-- see what they have answered until then.
declare('settle', { 'allow-oom' }, function(base, args)
  local settled = read_settled(base)
  local upto = args[1] == '' and read_present(settled) or tonumber(args[1])
  if upto > settled then
    redis.call('HSET', all(base, 'counts'), 'settled', show(upto))
    if args[2] == 'told' then redis.call('XADD', all(base, 'news'), 'MAXLEN', '~', NEWS, '*', 'h', show(upto)) end
  end
  return show(upto)
end)

-- Asks the other servers to send what they have, or answers such a question; returns the time. Arguments: `question` or
-- `answer`, and the text of the question.
declare('say', {}, function(base, args)
  redis.call('XADD', all(base, 'questions'), 'MAXLEN', '~', NEWS, '*', args[1], args[2])
  return show(read_present(read_settled(base)))
end)

-- Clears the journal of an account, and for `reset` also its coverage.
declare('clear', { 'allow-oom' }, function(base, args)
  local kind, id = args[1], args[2]
  local incarnation = redis.call('HGET', all(base, 'accounts'), id)
  if not incarnation then return end
  redis.call('DEL', of(base, incarnation, 'journal'))
  if kind == 'reset' then
    drop_coverage(base, incarnation)
    redis.call('HSET', of(base, incarnation, 'coverage'), 'since', redis.call('HGET', all(base, 'counts'), 'ordinal') or 0)
  end
  tell(base, kind, id, '')
end)

-- Drops the exchanges of an account up to an ordinal, because a server has no memory for them.
declare('forget', { 'allow-oom' }, function(base, args)
  local id, upto = args[1], args[2]
  local incarnation = id == '' and '' or redis.call('HGET', all(base, 'accounts'), id)
  if not incarnation then return end
  local dropped = redis.call('XTRIM', key_of(base, incarnation, 'journal'), 'MINID', show(tonumber(upto) + 1) .. '-0')
  -- Another server has done it.
  if dropped == 0 then return end
  tell(base, 'forget', id, upto)
end)

-- Begins a new verdict.
declare('clear_verdict', { 'allow-oom' }, function(base)
  local counts, examples = all(base, 'counts'), all(base, 'examples')
  local fields = redis.call('HGETALL', counts)
  for place = 1, #fields, 2 do
    if string.sub(fields[place], 1, 8) ~= 'cleared ' then
      redis.call('HSET', counts, 'cleared ' .. fields[place], fields[place + 1])
    end
  end
  for _, field in ipairs(redis.call('HKEYS', examples)) do
    if tonumber(string.match(field, '%d+$')) > SHOWN then redis.call('HDEL', examples, field) end
  end
end)
