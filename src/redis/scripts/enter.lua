#!lua flags=allow-oom
-- Lets a request enter an account. It counts the request as planned, and returns the changes since the caller's copy.
-- Requests are answered also without free memory, because they add very little data. The JavaScript in
-- domain/counting.ts counts the same: it computes the new counts from the old values.
--include step.lua
--include chance.lua
local operation, attempt, version, token, expected = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local gate, given_time, frozen, clock, counted = ARGV[6], ARGV[7], ARGV[8], tonumber(ARGV[9]), ARGV[10]
local longest, bucket, charged, limit = tonumber(ARGV[11]), ARGV[12], ARGV[13], tonumber(ARGV[14])
local grace_limit, grace_ends, window = tonumber(ARGV[15]), tonumber(ARGV[16]), tonumber(ARGV[17])
local aligned, enforced = ARGV[18], ARGV[19]
local FIRST_RULE, RULE_SIZE = 20, 9
-- How many windows one request removes. Each is part of the record of the changes that the request makes.
local FORGOTTEN = 1000

local meta = redis.call('HMGET', META, 'version', 'token', 'gate', 'requests', 'sequence', 'real', 'unborn', 'prune')
if not meta[1] then return { 'gone' } end
if meta[7] then settle() end
local real = read_time(given_time, meta[6])
local requests, sequence = tonumber(meta[4]), tonumber(meta[5])

-- Changes that the caller sent before this request are already known to it.
local function news()
  if expected == meta[2] then return 0 end
  return changes_since(version, token, meta[2])
end

-- `tallies` are the old ones of the planned rules, in their order.
local function answer(at, before, sequence_before, hits, tallies)
  return { 'ok', show(at), meta[1], meta[2], meta[3], news(), show(before), show(sequence_before), hits, tallies }
end

local function read_hits(text)
  if not text then return nil, nil end
  local colon = string.find(text, ':', 1, true)
  return tonumber(string.sub(text, 1, colon - 1)), tonumber(string.sub(text, colon + 1))
end

if is_late(operation, attempt) then return { 'late' } end
if attempt ~= '1' then
  -- The request counts as it was planned at the first attempt, also if the account has changed since then.
  local record = find_record(UNDO, operation)
  if record then
    -- It was done already. The lost reply is sent again.
    local fields, found = record[2], {}
    for index = 1, #fields, 2 do found[fields[index]] = fields[index + 1] end
    local function former(name)
      local text = found[name]
      if text == nil or text == '' then return false end
      return text
    end
    local tallies = {}
    for index = FIRST_RULE, #ARGV, RULE_SIZE do
      tallies[#tallies + 1] = former('t' .. ARGV[index])
    end
    local hits = former('h')
    if charged == '1' then hits = former('q' .. bucket) end
    return answer(tonumber(found['r']), tonumber(found['n']), tonumber(string.match(record[1], '^%d+')) - 1, hits, tallies)
  end
end

-- If a charge or a rule was changed meanwhile, the request must be planned again.
if meta[3] ~= gate then
  return { 'stale', show(real), meta[1], meta[2], meta[3], news() }
end

if counted == '0' then return answer(real, requests, sequence, false, {}) end

local now = real + clock
if frozen == '1' then now = clock end
-- Clocks stand still at the last instant.
now = math.min(now, LAST_INSTANT)
local undo = { 'o', operation, 'r', show(real), 'n', show(requests) }
local function note(name, text)
  undo[#undo + 1] = name
  undo[#undo + 1] = text or ''
end

local former, allowed = false, true
if bucket ~= '' then former = redis.call('HGET', QUOTAS, bucket) end
if charged == '1' then
  local started, used = read_hits(former)
  if not started or now < started or now >= started + window then
    used = 0
    started = now
    if aligned == '1' then started = math.floor(now / window) * window end
  end
  if now < grace_ends then limit = grace_limit end
  allowed = used < limit or enforced == '0'
  if allowed then used = used + 1 end
  note('q' .. bucket, former)
  redis.call('HSET', QUOTAS, bucket, show(started) .. ':' .. show(used))
  if used == 1 then
    -- When a window begins, windows that are over are removed. If there are many, this waits until their number has
    -- doubled, so that the cost of a request does not depend on the number of windows.
    local size = redis.call('HLEN', QUOTAS)
    if size > 1 and (size <= 64 or size >= tonumber(meta[8] or 0)) then
      local all = redis.call('HGETALL', QUOTAS)
      local forgotten = 0
      for index = 1, #all, 2 do
        local begun = read_hits(all[index + 1])
        if all[index] ~= bucket and (begun <= now - longest or begun > now) and forgotten < FORGOTTEN then
          note('q' .. all[index], all[index + 1])
          redis.call('HDEL', QUOTAS, all[index])
          forgotten = forgotten + 1
        end
      end
      size = size - forgotten
      if size > 32 then redis.call('HSET', META, 'prune', forgotten < FORGOTTEN and 2 * size or size) end
    end
  end
elseif bucket ~= '' then
  note('h', former)
end

local tallies = {}
if allowed then
  for index = FIRST_RULE, #ARGV, RULE_SIZE do
    local id = ARGV[index]
    local tally = redis.call('HGET', TALLIES, id)
    tallies[#tallies + 1] = tally
    note('t' .. id, tally)
    local matched, hits = 0, 0
    if tally then matched, hits = read_hits(tally) end
    if hits < tonumber(ARGV[index + 2]) and now < tonumber(ARGV[index + 4]) then
      matched = matched + 1
      local acts = matched > tonumber(ARGV[index + 1])
      local probability = tonumber(ARGV[index + 3])
      if acts and probability < 1 then acts = draw(index + 5, matched) < probability end
      if acts then hits = hits + 1 end
      redis.call('HSET', TALLIES, id, show(matched) .. ':' .. show(hits))
      if acts then break end
    end
  end
end
redis.call('HSET', META, 'requests', show(requests + 1), 'sequence', show(sequence + 1), 'real', show(real))
keep_undo(show(sequence + 1), undo)
return answer(real, requests, sequence, former, tallies)
