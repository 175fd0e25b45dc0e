import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, it } from 'vitest'
import { openFolderStore } from '../../src/store/folder/folder-store.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { budget } from '../support/budget.ts'
import { askControl } from '../support/control-plane.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const BYTES = 8_000_000

/** A body of so many bytes, with as many items as it takes. */
function fill(before: string, item: (index: number) => string, after: string): string {
  const items: string[] = []
  for (let bytes = before.length + after.length, index = 0; ; index++) {
    const text = item(index)
    bytes += text.length + 1
    if (bytes > BYTES) return before + items.join(',') + after
    items.push(text)
  }
}

const names = Array.from({ length: 150_000 }, (_, index) => `"d${index}.example"`)
const BODIES: [what: string, body: () => string, status: number][] = [
  ['domains as strings', () => fill('{"domains":[', (index) => `"d${index}.example"`, ']}'), 200],
  ['domains as objects', () => fill('{"domains":[', (index) => `{"name":"d${index}.example","volume":1}`, ']}'), 200],
  [
    'domains that were removed',
    () => fill('{"former_domains":[', (index) => `{"name":"d${index}.example"}`, ']}'),
    200,
  ],
  ['groups', () => fill('{"groups":[', (index) => `{"name":"Group ${index}"}`, ']}'), 200],
  [
    'members',
    () =>
      fill(`{"domains":[${names}],"groups":[{"name":"G","domains":[`, (index) => names[index % 150_000] ?? '', ']}]}'),
    200,
  ],
  [
    'members that are no domains',
    () => fill('{"groups":[{"name":"G","domains":[', (index) => `"a${index}"`, ']}]}'),
    400,
  ],
  ['keys', () => fill('{"keys":[', (index) => `{"key":"k${index}"}`, ']}'), 409],
  ['what is no domain', () => fill('{"domains":[', () => '7', ']}'), 400],
  ['a name that is very long', () => `{"domains":["${'a'.repeat(BYTES)}"]}`, 400],
]

const STATE = '/accounts/default/state'

/** The longest time for which nothing else could be done meanwhile, in milliseconds. */
async function longestPause(work: () => Promise<void>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  await work()
  delay.disable()
  return delay.max / 1e6
}

function parseTime(body: string): number {
  const times = [1, 2, 3].map(() => {
    const start = performance.now()
    JSON.parse(body)
    return performance.now() - start
  })
  return Math.max(...times)
}

/** The quick run tries one body: all of them go the same way. */
const TRIED = BODIES.slice(0, budget({ quick: 1, full: BODIES.length }))

it.each(TRIED)(
  'an import of eight megabytes of %s keeps others waiting as its parsing does, and not much longer',
  async (_, make, status) => {
    const body = make()
    const service = await startService({ store: openMemoryStore() })
    const parsing = parseTime(body)
    const pause = await longestPause(async () => {
      expect((await askControl(service, 'PUT', STATE, body)).status).toBe(status)
    })
    // Beside the parsing, the test itself sends the body, and the garbage of all this is collected.
    expect(pause).toBeLessThan(3 * parsing + 150)
  },
  60_000,
)

it('a large account in a folder keeps others waiting for moments only, whether it is written, changed or reset', async () => {
  const [, make] = BODIES[1] ?? []
  const body = make?.() ?? ''
  const store = await openFolderStore(temporaryFolder(), { nameComparison: 'unicode' })
  const service = await startService({ store })
  const limit = 3 * parseTime(body) + 150
  const imports = () => askControl(service, 'PUT', STATE, body)
  const changes = () => askControl(service, 'PUT', '/accounts/default/domains/d7.example/features', { features: ['x'] })
  const resets = () => askControl(service, 'POST', '/accounts/default/reset', {})
  for (const act of [imports, changes, resets]) {
    const pause = await longestPause(async () => {
      expect((await act()).status).toBe(200)
    })
    expect(pause).toBeLessThan(limit)
  }
}, 60_000)
