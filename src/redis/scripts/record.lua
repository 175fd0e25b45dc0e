#!lua
-- Does the work that a replica has gathered: records exchanges, counts them, and clears what a user wants cleared.
-- KEYS: the stream of exchanges, its history, the entries of each account, their weights, the records that are dropped
-- but still read by replicas that are behind, the history of each account, the accounts of the registry, the verdict
-- with its examples, both before the last clearing, the coverage of all accounts and that of all time, the number of
-- the last batch of this replica; then the coverage of each account in the batch.
-- ARGV: the batch as JSON, then the text of each exchange.
local exchanges, history, rings, weights, dropped, histories, accounts = unpack(KEYS, 1, 7)
local verdict, examples, verdict_before, examples_before, present, totals, guard = unpack(KEYS, 8, 14)
local FIRST_COVERAGE = 14
local batch = cjson.decode(ARGV[1])
local SHOWN = 10
local PRUNED = 500

-- The reply was lost, and the batch was sent again.
if tonumber(redis.call('GET', guard) or '0') >= batch.number then
  return redis.call('HGET', history, 'last')
end
redis.call('SET', guard, string.format('%d', batch.number), 'PX', 3600000)
redis.call('HSETNX', history, 'born', batch.replica .. ' ' .. batch.number)

-- An exchange has the id ORDINAL-0. Events after it have ORDINAL-1 and so on, so that ordinals have no gaps.
local last = redis.call('HGET', history, 'last')
if not last then
  -- If the history was evicted or deleted, the other keys are useless.
  redis.call('DEL', exchanges, rings, weights, dropped)
  last = '0-0'
end
-- If one of these keys is missing, the exchanges of an account are unknown, so that none would ever be dropped.
if tonumber(redis.call('HGET', history, 'bytes') or '0') > 0 and redis.call('EXISTS', rings, weights) < 2 then
  redis.call('DEL', exchanges, rings, weights, dropped)
  redis.call('HSET', history, 'bytes', '0', 'born', batch.replica .. ' ' .. batch.number)
end

local function read_id(id)
  local first, second = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(first), tonumber(second)
end

local ordinal, sequence = read_id(last)
local forgotten = 0

local function whole(number)
  return string.format('%d', number)
end

local function id_of_last()
  return whole(ordinal) .. '-' .. whole(sequence)
end

-- Appends a record after the last one. After a failover or a stopped script, the stream may be longer than the history
-- knows.
local function append(is_exchange, fields)
  for attempt = 1, 50 do
    if is_exchange then
      ordinal, sequence = ordinal + 1, 0
    else
      sequence = sequence + 1
    end
    local reply = redis.pcall('XADD', exchanges, id_of_last(), unpack(fields))
    if type(reply) ~= 'table' or not reply.err then return end
    if not string.find(reply.err, 'equal or smaller') then break end
    local top = redis.call('XREVRANGE', exchanges, '+', '-', 'COUNT', 1)[1]
    if attempt == 1 and top then
      ordinal, sequence = read_id(top[1])
    else
      -- The end of the stream was deleted, and only Redis knows its last id.
      ordinal, sequence = ordinal + 2 ^ attempt, 0
    end
  end
  redis.call('XADD', exchanges, id_of_last(), unpack(fields))
end

local function add_event(kind, account, upto)
  append(false, { 'c', kind, 'a', account, 'u', whole(upto or ordinal) })
  redis.call('ZADD', dropped, ordinal, id_of_last())
end

local function range_of(account)
  return '[' .. account .. '\0', '(' .. account .. '\1'
end

local function read_member(account, member)
  local place, weight = string.match(string.sub(member, #account + 2), '^(%d+):(%d+)$')
  return tonumber(place), tonumber(weight)
end

local function drop(account, members)
  local sum = 0
  local highest = 0
  for _, member in ipairs(members) do
    local place, weight = read_member(account, member)
    sum = sum + weight
    highest = math.max(highest, place)
    redis.call('ZADD', dropped, place, whole(place) .. '-0')
    redis.call('ZREM', rings, member)
  end
  redis.call('HINCRBY', history, 'bytes', whole(-sum))
  if tonumber(redis.call('ZINCRBY', weights, whole(-sum), account)) <= 0 then
    redis.call('ZREM', weights, account)
  end
  return highest
end

local function keep(account, weight)
  if batch.limit == 0 then
    redis.call('ZADD', dropped, ordinal, id_of_last())
    return
  end
  redis.call('ZADD', rings, 0, account .. '\0' .. string.format('%016d:%d', ordinal, weight))
  redis.call('HINCRBY', history, 'bytes', whole(weight))
  redis.call('ZINCRBY', weights, whole(weight), account)
  local low, high = range_of(account)
  local excess = redis.call('ZLEXCOUNT', rings, low, high) - batch.limit
  if excess > 0 then
    drop(account, redis.call('ZRANGEBYLEX', rings, low, high, 'LIMIT', 0, excess))
  end
end

-- The heaviest account loses its oldest entry, so that an account with few requests loses none because of others.
local function thin()
  local upto = {}
  while tonumber(redis.call('HGET', history, 'bytes') or '0') > batch.total do
    local account = redis.call('ZREVRANGE', weights, 0, 0)[1]
    if not account then break end
    local low, high = range_of(account)
    local members = redis.call('ZRANGEBYLEX', rings, low, high, 'LIMIT', 0, 1)
    if #members == 0 or read_member(account, members[1]) == ordinal then break end
    upto[account] = drop(account, members)
    forgotten = forgotten + 1
  end
  for account, place in pairs(upto) do
    add_event('forget', account, place)
  end
end

local function count(coverage, field)
  redis.call('HINCRBY', coverage, field, 1)
  redis.call('HINCRBY', present, field, 1)
  redis.call('HINCRBY', totals, field, 1)
end

local function read_history(account)
  local known = redis.call('HGET', histories, account)
  if not known then return nil end
  local incarnation, since = string.match(known, '^(%S+) (%d+)$')
  return incarnation, tonumber(since)
end

local function clear_requests(account)
  local low, high = range_of(account)
  drop(account, redis.call('ZRANGEBYLEX', rings, low, high))
end

-- Subtracts the coverage of an account from that of all accounts.
local function clear_coverage(coverage)
  local fields = redis.call('HGETALL', coverage)
  for place = 1, #fields, 2 do
    if redis.call('HINCRBY', present, fields[place], -fields[place + 1]) <= 0 then
      redis.call('HDEL', present, fields[place])
    end
  end
  redis.call('DEL', coverage)
end

local function finish(account, coverage, kind)
  clear_requests(account)
  clear_coverage(coverage)
  add_event(kind, account)
end

-- Inserts an entry among the first ones, ordered by ordinal.
local function add_first(field, key, place, request)
  local first = cjson.decode(redis.call('HGET', key, field) or '[]')
  table.insert(first, { place, request })
  table.sort(first, function(one, other) return one[1] < other[1] end)
  while #first > SHOWN do
    table.remove(first)
  end
  redis.call('HSET', key, field, cjson.encode(first))
end

local DO = {}

function DO.exchange(item)
  local account = item.account
  local coverage = KEYS[FIRST_COVERAGE + item.coverage]
  local is_orphan = account ~= '' and redis.call('HGET', accounts, account) ~= item.incarnation
  -- A later account of this id must not have the request in its journal.
  if is_orphan then account = '' end
  local known = account ~= '' and read_history(account)
  if account ~= '' and known ~= item.incarnation then
    -- The server that deleted the former account with this id has not reported the deletion.
    if known then finish(account, coverage, 'end') end
    redis.call('HSET', histories, account, item.incarnation .. ' ' .. whole(ordinal))
  end
  redis.call('HINCRBYFLOAT', history, 'seconds', item.seconds)
  redis.call('HINCRBY', verdict, 'requests', 1)
  if item.judged then redis.call('HINCRBY', verdict, 'judged', 1) end
  if item.injected then redis.call('HINCRBY', verdict, 'injected', 1) end
  local example
  local fields = { 'a', account, 'i', item.incarnation, 'r', batch.replica, 'n', whole(item.number), 'e', ARGV[item.text + 1] }
  local function add(name, value)
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  if is_orphan then add('x', item.account) end
  if item.wire then add('w', item.wire) end
  if item.violation then
    local place = redis.call('HINCRBY', verdict, 'violations', 1)
    redis.call('HINCRBY', verdict, 'code ' .. item.violation, 1)
    example = place <= SHOWN and place
    add('v', whole(place))
    if item.presented then add('p', item.presented) end
  end
  append(true, fields)
  -- The replica adds the explanation after the ordinal later.
  if example then redis.call('HSET', examples, example, whole(ordinal) .. ' ') end
  keep(account, item.weight)
  if is_orphan then return end
  if item.ruled then redis.call('HINCRBY', history, 'ruled', 1) end
  if item.response then count(coverage, item.response) end
end

-- The coverage of an exchange's request. Its replica determines it when it reads the exchange back.
function DO.shown(item)
  local coverage = KEYS[FIRST_COVERAGE + item.coverage]
  if item.account ~= '' then
    local known, since = read_history(item.account)
    if known ~= item.incarnation or item.ordinal <= since then return end
  end
  for _, name in ipairs(item.names) do
    if redis.call('HSETNX', coverage, name, 1) == 1 then
      redis.call('HINCRBY', present, name, 1)
      redis.call('HSET', totals, name, 1)
    end
  end
end

function DO.impolite(item)
  -- The verdict was cleared meanwhile.
  if item.ordinal <= tonumber(redis.call('HGET', verdict, 'since') or '0') then return end
  redis.call('HINCRBY', verdict, 'impolite ' .. item.manner, 1)
  add_first('first ' .. item.manner, verdict, item.ordinal, item.request)
end

function DO.example(item)
  local known = redis.call('HGET', examples, item.place)
  local place = whole(item.ordinal) .. ' '
  if known and string.sub(known, 1, #place) == place then
    redis.call('HSET', examples, item.place, place .. item.example)
  end
end

function DO.clear(item)
  clear_requests(item.account)
  add_event('clear', item.account)
end

function DO.reset(item)
  finish(item.account, KEYS[FIRST_COVERAGE + item.coverage], 'reset')
  local known = read_history(item.account)
  if known then redis.call('HSET', histories, item.account, known .. ' ' .. whole(ordinal)) end
end

DO['end'] = function(item)
  local known = read_history(item.account)
  -- Another account has the id by now. The former one ended with the first request of this one.
  if known and known == redis.call('HGET', accounts, item.account) then return end
  finish(item.account, KEYS[FIRST_COVERAGE + item.coverage], 'end')
  redis.call('HDEL', histories, item.account)
end

DO['clear-verdict'] = function()
  local fields = redis.call('HGETALL', verdict)
  for place = 1, #fields, 2 do
    local name, value = fields[place], fields[place + 1]
    if string.sub(name, 1, 6) == 'first ' then
      for _, each in ipairs(cjson.decode(value)) do
        add_first(name, verdict_before, each[1], each[2])
      end
    elseif name ~= 'since' then
      redis.call('HINCRBY', verdict_before, name, value)
    end
  end
  local kept = redis.call('HLEN', examples_before)
  for place = 1, SHOWN do
    local example = redis.call('HGET', examples, place)
    if example and kept < SHOWN then
      kept = kept + 1
      redis.call('HSET', examples_before, kept, example)
    end
  end
  redis.call('DEL', verdict, examples)
  redis.call('HSET', verdict, 'since', whole(ordinal))
end

for _, item in ipairs(batch.items) do
  DO[item.kind](item)
end
thin()
if forgotten > 0 then redis.call('HINCRBY', history, 'forgotten', forgotten) end

-- Replicas that are a little behind still read dropped records.
local old = redis.call('ZRANGEBYSCORE', dropped, '-inf', ordinal - batch.window, 'LIMIT', 0, PRUNED)
if #old > 0 then
  redis.call('XDEL', exchanges, unpack(old))
  redis.call('ZREM', dropped, unpack(old))
end

redis.call('HSET', history, 'last', id_of_last(), 'ordinal', whole(ordinal))
return id_of_last()
