// The keys under a prefix P:
//   P:store            the format, terms and id of these contents, see `Membership`, and the numbers of the store
//   P:ids, P:keys      id of an account, hash of a key → incarnation
//   P:order            the ids of all accounts in the order of their creation
//   P:idle             the incarnations of evictable accounts, the next victim first
//   P:account:I        id, v, state, c, counters, snapshots, real, hashes, changed, evictable, turn of the incarnation I
//   P:account:I:kept   the states and counters of its snapshots, by number
//   P:account:I:changes   for each version what leads back to the version before
//   P:account:I:journal, P:nobody:journal   the latest exchanges, under their ordinals
//   P:account:I:coverage, P:nobody:coverage, P:totals   counts of responses and shown items
//   P:verdict         counts since the last clearing, with the first requests of each kind
//   P:news             the latest exchanges and events of all accounts
//   P:batch:S          the last batch of the server S

/** How many earlier states of an account can be recalled. */
const RECALLED = 1_000
/** How many exchanges of all accounts wait for servers that are behind. Those that are further behind read all journals. */
const NEWS = 1_000
/** How many requests of each kind the verdict shows. */
const SHOWN = 10
/** The score of an account with changes is higher by this, so that it is evicted after all others. */
const CHANGED = 1e15

/** In milliseconds, for how long other servers wait for one that was too late several times. */
const TURN = 100

/** What all scripts begin with. Every key begins with the prefix in `KEYS[1]`. */
const COMMON = `
local P = KEYS[1]
local function call(...) return redis.call(...) end
local function keyOf(inc) return inc == '' and P .. ':nobody' or P .. ':account:' .. inc end

local function tell(...)
  local ordinal = call('HGET', P .. ':store', 'ordinal') or '0'
  call('XADD', P .. ':news', 'MAXLEN', '~', ${NEWS}, ordinal .. '-*', ...)
end

local function use(inc, changed)
  local uses = call('HINCRBY', P .. ':store', 'uses', 1)
  call('ZADD', P .. ':idle', uses + (changed and ${CHANGED} or 0), inc)
end

local function drop(inc)
  local key = keyOf(inc)
  local id, hashes = unpack(call('HMGET', key, 'id', 'hashes'))
  if not id then return false end
  for _, hash in ipairs(cjson.decode(hashes)) do call('HDEL', P .. ':keys', hash) end
  call('DEL', key, key .. ':kept', key .. ':changes', key .. ':journal', key .. ':coverage')
  call('HDEL', P .. ':ids', id)
  call('ZREM', P .. ':order', id)
  call('ZREM', P .. ':idle', inc)
  tell('event', 'end', 'account', id)
  return id
end
`

/**
 * Adds an account: id, incarnation, state, counters, time, hashes of its keys as JSON, limit of accounts or nothing,
 * whether it may be evicted. Replies `taken`, with the hash of a key and the id of its account if it is not the id;
 * `full`; or `ok` and the ids of the evicted accounts.
 */
const create = `
local id, inc, state, counters, real, hashes, limit, evictable = unpack(ARGV)
if call('HEXISTS', P .. ':ids', id) == 1 then return { 'taken' } end
for _, hash in ipairs(cjson.decode(hashes)) do
  local owner = call('HGET', P .. ':keys', hash)
  if owner then return { 'taken', hash, call('HGET', keyOf(owner), 'id') } end
end
local reply = { 'ok' }
local accounts = call('HLEN', P .. ':ids')
local excess = limit == '' and 0 or accounts + 1 - tonumber(limit)
if excess > 0 then
  local victims = call('ZRANGE', P .. ':idle', 0, excess - 1)
  if #victims < excess then return { 'full', tostring(accounts) } end
  for _, victim in ipairs(victims) do reply[#reply + 1] = drop(victim) end
end
call('HSET', keyOf(inc), 'id', id, 'v', 1, 'state', state, 'c', 1, 'counters', counters, 'snapshots', '[]',
  'real', real, 'hashes', hashes, 'changed', '0', 'evictable', evictable)
call('HSET', P .. ':ids', id, inc)
for _, hash in ipairs(cjson.decode(hashes)) do call('HSET', P .. ':keys', hash, inc) end
call('ZADD', P .. ':order', call('HINCRBY', P .. ':store', 'created', 1), id)
if evictable == '1' then use(inc, false) end
return reply
`

/**
 * Compares, and writes: incarnation, expected version, known version of the counters, whether that is expected too, time,
 * then what to write, each text empty if it stays: state, what leads back from it, counters, snapshots, hashes of the
 * keys; whether this changes the account, and whether it uses it; the numbers of a snapshot to keep, and of one to drop;
 * the server, and whether the next turn is to be its own if it was too late. Replies `gone`; `busy` if it is the turn of
 * another server; `taken`; `ok` with the version of the counters; or `stale` with what the caller does not know.
 */
const cas = `
local inc, v, c, exact, real, state, back, counters, snapshots, hashes, changes, uses = unpack(ARGV, 1, 12)
local keep, forget, server, claims = unpack(ARGV, 13, 16)
local key = keyOf(inc)
local found = call('HMGET', key, 'id', 'v', 'c', 'real', 'evictable', 'changed', 'turn')
if not found[1] then return { 'gone' } end
local function now()
  local seconds, micros = unpack(call('TIME'))
  return tonumber(seconds) * 1000 + math.floor(tonumber(micros) / 1000)
end
if found[7] then
  local owner, ends = string.match(found[7], '^(%S+) (%d+)$')
  if owner ~= server and tonumber(ends) > now() then return { 'busy' } end
end
if found[2] ~= v or (exact == '1' and found[3] ~= c) then
  if claims == '1' then call('HSET', key, 'turn', string.format('%s %.0f', server, now() + ${TURN})) end
  local reply = { 'stale', found[1], found[2], found[3], found[4], '', '', '' }
  if found[2] ~= v then reply[6] = call('HGET', key, 'state') end
  if found[3] ~= c then reply[7], reply[8] = unpack(call('HMGET', key, 'counters', 'snapshots')) end
  return reply
end
if hashes ~= '' then
  local after, kept = cjson.decode(hashes), {}
  for _, hash in ipairs(after) do
    local owner = call('HGET', P .. ':keys', hash)
    if owner and owner ~= inc then return { 'taken', hash, call('HGET', keyOf(owner), 'id') } end
    kept[hash] = true
  end
  for _, hash in ipairs(cjson.decode(call('HGET', key, 'hashes'))) do
    if not kept[hash] then call('HDEL', P .. ':keys', hash) end
  end
  for _, hash in ipairs(after) do call('HSET', P .. ':keys', hash, inc) end
  call('HSET', key, 'hashes', hashes)
end
if state ~= '' then
  local version = call('HINCRBY', key, 'v', 1)
  call('HSET', key, 'state', state)
  call('XADD', key .. ':changes', 'MAXLEN', ${RECALLED}, version .. '-0', 'back', back)
end
if counters ~= '' then call('HSET', key, 'counters', counters) end
if snapshots ~= '' then call('HSET', key, 'snapshots', snapshots) end
if forget ~= '' then call('HDEL', key .. ':kept', forget, forget .. ' counters') end
if keep ~= '' then
  local now = call('HMGET', key, 'state', 'counters')
  call('HSET', key .. ':kept', keep, now[1], keep .. ' counters', now[2])
end
if found[7] then call('HDEL', key, 'turn') end
if counters .. snapshots ~= '' then found[3] = tostring(call('HINCRBY', key, 'c', 1)) end
if counters .. state ~= '' and tonumber(real) > tonumber(found[4]) then call('HSET', key, 'real', real) end
if changes == '1' and found[6] == '0' then call('HSET', key, 'changed', '1') end
if uses == '1' and found[5] == '1' then use(inc, changes == '1' or found[6] == '1') end
return { 'ok', found[3] }
`

/**
 * Deletes an account (`end`), its journal and coverage (`reset`), its journal (`clear`), or the verdict: the name of the
 * event, and the incarnation. Replies whether the account was there.
 */
const remove = `
local event, inc = unpack(ARGV)
if event == 'verdict' then
  call('DEL', P .. ':verdict')
  tell('event', event)
  return 1
end
if event == 'end' then return drop(inc) and 1 or 0 end
local key = keyOf(inc)
local id = call('HGET', key, 'id')
if not id then return 0 end
call('DEL', key .. ':journal')
if event == 'reset' then call('DEL', key .. ':coverage') end
tell('event', event, 'account', id)
return 1
`

/**
 * Records exchanges: the server, the number of its batch, how many exchanges a journal has; and of each exchange the
 * incarnation of its account or nothing, the id of that, its JSON, the counters before it, its counts for the verdict
 * and for the coverage as JSON, and what the verdict shows of it, by name. A batch that was recorded before is not
 * recorded again.
 */
const record = `
local server, number, limit = unpack(ARGV, 1, 3)
local batch = P .. ':batch:' .. server
if call('GET', batch) == number then return 0 end
for place = 4, #ARGV, 7 do
  local inc, id, entry, counters, verdict, coverage, firsts = unpack(ARGV, place, place + 6)
  local exists = inc == '' or call('EXISTS', keyOf(inc)) == 1
  if not exists then inc, id = '', '' end
  local ordinal = call('HINCRBY', P .. ':store', 'ordinal', 1)
  if limit ~= '0' then
    call('XADD', keyOf(inc) .. ':journal', 'MAXLEN', limit, ordinal .. '-0', 'account', id, 'found', counters, 'entry', entry)
  end
  tell('account', id, 'found', counters, 'entry', entry)
  firsts = cjson.decode(firsts)
  for name, by in pairs(cjson.decode(verdict)) do
    local count = call('HINCRBY', P .. ':verdict', name, by)
    if firsts[name] and count <= ${SHOWN} then call('HSET', P .. ':verdict', name .. '#' .. count, firsts[name]) end
  end
  if exists then
    for name, by in pairs(cjson.decode(coverage)) do
      call('HINCRBY', keyOf(inc) .. ':coverage', name, by)
      call('HINCRBY', P .. ':totals', name, by)
    end
  end
end
call('SET', batch, number, 'EX', 86400)
return 1
`

/** The programs that run within the server. None of them knows a rule of the domain. */
export const SCRIPTS = {
  create: COMMON + create,
  cas: COMMON + cas,
  /** The same for changes that need no more memory: reads are answered although the server is full. */
  count: `#!lua flags=allow-oom\n${COMMON}${cas}`,
  remove: COMMON + remove,
  record: COMMON + record,
} as const

export type ScriptName = keyof typeof SCRIPTS
