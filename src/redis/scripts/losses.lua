-- The keys of the registry that were deleted, or evicted by the server. The sizes of the keys show a loss, also if a
-- key exists again with later entries.
local function find_losses()
  local accounts, names, order = redis.call('HLEN', ACCOUNTS), redis.call('HLEN', NAMES), redis.call('ZCARD', ORDER)
  local doomed, dying = redis.call('HLEN', DOOMED), redis.call('HLEN', DYING)
  local holders, held, used = redis.call('HLEN', HOLDERS), redis.call('HLEN', HELD), redis.call('HLEN', USED)
  local evictable = redis.call('ZCARD', UNCHANGED) + redis.call('ZCARD', CHANGED)
  local lost = {}
  local function note(is_lost, name)
    if is_lost then lost[#lost + 1] = name end
  end
  note(accounts < order, 'accounts')
  note(names < accounts + doomed, 'names')
  note(order < accounts, 'order')
  note(holders < held, 'holders')
  note(held == 0 and holders > 0, 'held')
  note(used < evictable, 'used')
  -- An evicted account leaves both keys at once. Its time of use is removed with its data.
  note(used > evictable + doomed and redis.call('EXISTS', UNCHANGED) == 0, 'unchanged')
  note(used > evictable + doomed and redis.call('EXISTS', UNCHANGED) == 1, 'changed')
  note(dying < doomed, 'dying')
  note(doomed < dying or (names > accounts + doomed and accounts == order), 'doomed')
  note(tonumber(redis.call('HGET', NUMBERS, 'creations') or 0) < order, 'numbers')
  return lost
end
