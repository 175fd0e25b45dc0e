-- Multiplies 32-bit words like `Math.imul`: a number of Lua has 53 bits.
local function multiply(a, b)
  a, b = a % 4294967296, b % 4294967296
  local low, high = a % 65536, math.floor(a / 65536)
  return (low * b + (high * b % 65536) * 65536) % 4294967296
end

-- A permutation of the 32-bit words, see ground/chance.ts.
local function scramble(word)
  local mixed = bit.bxor(word, bit.rshift(word, 16))
  mixed = multiply(mixed, 2246822507)
  mixed = bit.bxor(mixed, bit.rshift(mixed, 13))
  mixed = multiply(mixed, 3266489909)
  return bit.bxor(mixed, bit.rshift(mixed, 16)) % 4294967296
end

-- A number from 0 to 1, exclusive. The four words at ARGV[at] stand for the text before the ordinal.
local function draw(at, ordinal)
  local a, b, c, d = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  for unit in string.gmatch(show(ordinal), '.') do
    local code = string.byte(unit)
    a = bit.bxor(b, multiply(bit.bxor(a, code), 597399067))
    b = bit.bxor(c, multiply(bit.bxor(b, code), 2869860233))
    c = bit.bxor(d, multiply(bit.bxor(c, code), 951274213))
    d = bit.bxor(a, multiply(bit.bxor(d, code), 2716044179))
  end
  return scramble(bit.bxor(a, c)) / 4294967296
end
