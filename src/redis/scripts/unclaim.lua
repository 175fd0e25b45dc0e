#!lua flags=allow-oom
-- Reports which of the claimed keys the account has at a version: pairs of a key and 1 or 0. A key is released if the
-- account does not have it, as far as is known, and no other change may add it.
--include registry.lua
local incarnation, operation, version = ARGV[1], ARGV[2], tonumber(ARGV[3])
local gone = {}
for index = 4, #ARGV, 2 do
  local holder = read_holder(ARGV[index])
  if holder and holder.incarnation == incarnation then
    local others = {}
    for _, claim in ipairs(holder.claims) do
      if string.match(claim, '^[^@]+') ~= operation then others[#others + 1] = claim end
    end
    holder.claims = others
    if version >= holder.version then
      holder.version = version
      holder.has = ARGV[index + 1]
    end
    if holder.has == '0' and #others == 0 then
      redis.call('HDEL', HOLDERS, ARGV[index])
      gone[ARGV[index]] = true
    else
      write_holder(ARGV[index], holder)
    end
  end
end
if next(gone) and redis.call('HEXISTS', NAMES, incarnation) == 1 then
  local held = {}
  for hash in string.gmatch(redis.call('HGET', HELD, incarnation) or '', '[^\n]+') do
    if not gone[hash] then held[#held + 1] = hash end
  end
  if #held > 0 then
    redis.call('HSET', HELD, incarnation, table.concat(held, '\n'))
  else
    redis.call('HDEL', HELD, incarnation)
  end
end
return 1
