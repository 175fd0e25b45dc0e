#!lua flags=no-writes
-- Returns the commands that the connection's user may not run on the key, without running them.
-- KEYS: a key; ARGV: JSON of a list of commands, each a list of words
local refused = {}
for _, words in ipairs(cjson.decode(ARGV[1])) do
  local known, allowed = pcall(redis.acl_check_cmd, unpack(words))
  if not known or not allowed then table.insert(refused, words[1]) end
end
return refused
