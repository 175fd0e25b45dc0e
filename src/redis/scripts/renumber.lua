#!lua flags=allow-oom
-- Continues lost counters after the numbers that were given. ARGV: pairs of a name and a number.
--include registry.lua
local function raise(name, number)
  if tonumber(redis.call('HGET', NUMBERS, name) or 0) < number then
    redis.call('HSET', NUMBERS, name, string.format('%d', number))
  end
end
local function raise_to_last(name, queue)
  local last = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')
  if last[2] then raise(name, tonumber(last[2])) end
end
raise_to_last('creations', ORDER)
raise_to_last('uses', UNCHANGED)
raise_to_last('uses', CHANGED)
for index = 1, #ARGV, 2 do raise(ARGV[index], tonumber(ARGV[index + 1])) end
return 1
