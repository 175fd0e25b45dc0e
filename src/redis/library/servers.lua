-- The servers that use the keys of a prefix, and the repair of what was deleted or evicted.
--   {all}:marker    format, contract, overlays and options of the servers, and an id of these contents.
--   {all}:replicas  `NUMBER INSTANCE` of each server by the end of its lease.

-- Lets a server take part if it serves the same contract as the other servers with these keys. The marker names that
-- contract. If no server uses the keys, the contract may be replaced: by the same one with other options, or by one for
-- which every account was found valid. If accounts exist without a marker, a server may write the marker again after it
-- has served these accounts, or has found them valid.
-- Arguments: instance, lease in ms, format, contract, overlays, options, id of a new marker, contract that may be
-- replaced, whether a lost marker may be written again.
declare('join', { 'allow-oom' }, function(base, args)
  local marker, leases = all(base, 'marker'), all(base, 'replicas')
  local instance, lease, format, contract = args[1], tonumber(args[2]), args[3], args[4]
  local micros = read_micros('')
  local now = math.floor(micros / 1000)
  redis.call('ZREMRANGEBYSCORE', leases, '-inf', now)
  local taken, own = {}, nil
  local members = redis.call('ZRANGE', leases, 0, -1)
  for _, member in ipairs(members) do
    local number, name = string.match(member, '^(%d+) (.*)$')
    if name == instance then own = member else taken[tonumber(number)] = true end
  end
  local others = #members - (own and 1 or 0)
  local present = redis.call('HMGET', marker, 'format', 'contract')
  if not present[1] and (args[9] == '1' or redis.call('EXISTS', all(base, 'accounts')) == 0) then
    redis.call('HSET', marker, 'format', format, 'contract', contract, 'overlays', args[5], 'options', args[6], 'born', args[7])
  elseif present[1] == format and others == 0 and (present[2] == contract or present[2] == args[8]) then
    redis.call('HSET', marker, 'contract', contract, 'overlays', args[5], 'options', args[6])
  end

  local found = redis.call('HMGET', marker, 'format', 'contract', 'overlays', 'options', 'born')
  local number = 0
  while taken[number] do number = number + 1 end
  local is_joined = found[1] == format and found[2] == contract
  own = own or number .. ' ' .. instance
  if is_joined then redis.call('ZADD', leases, now + lease, own) else redis.call('ZREM', leases, own) end
  for field = 1, 5 do found[field] = found[field] or '' end
  return { is_joined and 1 or 0, others, found[1], found[2], found[3], found[4], found[5], own, show(micros) }
end)

-- Tells a server each half second the state of the store: the time in microseconds, whether its keys are still the known
-- ones, how many servers there are, and which keys about all accounts are lost. It extends the lease of a server that may
-- continue. If another server has got its number meanwhile, because its lease had ended, no contract is told, so that it
-- joins again. Arguments: the member as `join` has named it, lease in ms, contract, id of the marker.
declare('beat', { 'allow-oom' }, function(base, args)
  local leases = all(base, 'replicas')
  local micros = read_micros('')
  local now = math.floor(micros / 1000)
  local present = redis.call('HMGET', all(base, 'marker'), 'contract', 'born')
  if present[1] == args[3] and present[2] == args[4] then
    redis.call('ZREMRANGEBYSCORE', leases, '-inf', now)
    for _, member in ipairs(redis.call('ZRANGE', leases, 0, -1)) do
      if member ~= args[1] and string.match(member, '^%d+') == string.match(args[1], '^%d+') then present = {} end
    end
    if present[1] then redis.call('ZADD', leases, now + tonumber(args[2]), args[1]) end
  end
  return { show(micros), present[1] or '', present[2] or '', redis.call('ZCARD', leases), find_losses(base) }
end)

-- The keys about all accounts that are lost, after 1 if all of them are, as under a prefix that nobody has used.
declare('losses', { 'no-writes' }, function(base)
  local lost = find_losses(base)
  return { #lost == #HASHES + #QUEUES and 1 or 0, lost }
end)

-- Lists accounts again, as far as lost keys had listed them: test time, incarnations. An account whose id another one has
-- by now is ended.
declare('adopt', { 'allow-oom' }, function(base, args)
  for index = 2, #args do
    local incarnation = args[index]
    local id, hashes, evictable, changed =
      unpack(redis.call('HMGET', of(base, incarnation, 'head'), '#id', '#k', '#e', '#c'))
    local function is_free(holder)
      return not holder or redis.call('EXISTS', of(base, holder, 'head')) == 0
    end
    local present = id and redis.call('HGET', all(base, 'accounts'), id)
    if id and present ~= incarnation and not is_free(present) then
      end_account(base, incarnation, id, hashes)
    elseif id then
      redis.call('HSET', all(base, 'accounts'), id, incarnation)
      for hash in string.gmatch(hashes, '[^\n]+') do
        local holder = redis.call('HGET', all(base, 'keys'), hash)
        if is_free(holder) then redis.call('HSET', all(base, 'keys'), hash, incarnation) end
      end
      local function queue(name)
        if redis.call('ZSCORE', all(base, name), incarnation) then return end
        redis.call('ZADD', all(base, name), show(next_use(base, name, args[1])), incarnation)
      end
      queue('order')
      if evictable == '1' then queue(changed == '1' and 'changed' or 'unchanged') end
    end
  end
  return 1
end)

-- Completes a repair. Arguments: pairs of a name and the number from which the lost numbers continue.
declare('complete', { 'allow-oom' }, function(base, args)
  for index = 1, #args, 2 do
    local known = tonumber(redis.call('HGET', all(base, 'numbers'), args[index]) or 0)
    if known < tonumber(args[index + 1]) then redis.call('HSET', all(base, 'numbers'), args[index], args[index + 1]) end
  end
  for _, name in ipairs(HASHES) do redis.call('HSET', all(base, name), '', '') end
  for _, name in ipairs(QUEUES) do redis.call('ZADD', all(base, name), 0, '') end
  return 1
end)

-- The commands that the connection's user may not run on the keys, without running them. Arguments: lists of words, each
-- of them as one text, where spaces separate words and `K` is a key.
declare('rights', { 'no-writes' }, function(base, args)
  local refused = {}
  for _, text in ipairs(args) do
    local words = {}
    for word in string.gmatch(text, '%S+') do words[#words + 1] = word == 'K' and all(base, 'marker') or word end
    local is_known, is_allowed = pcall(redis.acl_check_cmd, unpack(words))
    if not is_known or not is_allowed then refused[#refused + 1] = words[1] end
  end
  return refused
end)
