import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

// node bench/load-test.mjs --seconds 30
// Runs the load test of the suite for longer, and prints its figures. Clients and server share one process.
const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } })
if (!/^\d{1,5}$/.test(values.seconds)) {
  console.error(`--seconds ${values.seconds}: must be a whole number.`)
  process.exit(2)
}
const { status } = spawnSync('npx', ['vitest', 'run', 'test/load/load.test.ts'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
  env: { ...process.env, LOAD_SECONDS: values.seconds },
})
process.exit(status ?? 1)
