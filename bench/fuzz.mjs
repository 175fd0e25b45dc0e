import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

// node bench/fuzz.mjs --requests 50000 --seed 1
// Runs the fuzz test of the suite with more requests. A failure ends with the line that brings it about again.
const { values } = parseArgs({
  options: { requests: { type: 'string', default: '50000' }, seed: { type: 'string', default: '1' } },
})
for (const [name, value] of Object.entries(values)) {
  if (/^\d{1,9}$/.test(value)) continue
  console.error(`--${name} ${value}: must be a whole number.`)
  process.exit(2)
}
const root = fileURLToPath(new URL('..', import.meta.url))
const { status } = spawnSync('npx', ['vitest', 'run', 'test/load/fuzz.test.ts'], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, FUZZ_REQUESTS: values.requests, FUZZ_SEED: values.seed },
})
process.exit(status ?? 1)
