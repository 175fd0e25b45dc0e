#!lua
-- Makes a written account visible to all replicas, and dooms an evicted account if one must make room.
--include registry.lua
local id, incarnation, limit, evictable, idle, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], read_time(ARGV[6])
local FIRST_KEY = 7

local present = redis.call('HGET', ACCOUNTS, id)
if present == incarnation then
  -- The command was repeated, because its reply was lost.
  local all = redis.call('HGETALL', DOOMED)
  for index = 1, #all, 2 do
    if string.match(all[index + 1], '^[^ ]+') == incarnation then
      return { 'ok', all[index], redis.call('HGET', NAMES, all[index]), {} }
    end
  end
  return { 'ok', false, false, {} }
end
if present then return { 'taken' } end
local dying = redis.call('HGET', DYING, id)
if dying then return { 'dying', dying } end
local refusal = refuse_keys(incarnation, FIRST_KEY, now)
if refusal then return refusal end
local count = redis.call('HLEN', ACCOUNTS)
local victim, name = false, false
if limit ~= '' and count >= tonumber(limit) then
  victim = find_evicted(now, idle)
  if not victim then return { 'full', count } end
  name = redis.call('HGET', NAMES, victim)
  redis.call('HDEL', ACCOUNTS, name)
  redis.call('HSET', DYING, name, victim)
  redis.call('HSET', DOOMED, victim, incarnation .. ' ' .. show(now))
  redis.call('ZREM', ORDER, victim)
  redis.call('ZREM', UNCHANGED, victim)
  redis.call('ZREM', CHANGED, victim)
end
redis.call('HSET', ACCOUNTS, id, incarnation)
redis.call('HSET', NAMES, incarnation, id)
hold_keys(incarnation, nil, FIRST_KEY)
redis.call('ZADD', ORDER, redis.call('HINCRBY', NUMBERS, 'creations', 1), incarnation)
if evictable == '1' then
  redis.call('ZADD', UNCHANGED, redis.call('HINCRBY', NUMBERS, 'uses', 1), incarnation)
  redis.call('HSET', USED, incarnation, show(now))
end
return { 'ok', victim, name, list_doomed(now) }
