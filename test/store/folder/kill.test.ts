import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { AccountState } from '../../../src/domain/account.ts'
import { openFolderStore } from '../../../src/store/folder/folder-store.ts'
import { decodeAccount } from '../../../src/store/record.ts'
import type { Store } from '../../../src/store/store.ts'
import { budget } from '../../support/budget.ts'
import { bundle } from '../../support/bundle.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { exampleAccount, exampleRecord, SETTINGS } from '../example-account.ts'

const WRITER = await bundle(new URL('killed-writer.mjs', import.meta.url))
const ROUNDS = budget({ quick: 8, full: 60 })
const SEED = 20_260_115
const PLAN = { accounts: 4, clients: 3 }
const STEPS = 6

/** Numbers from 0 up to 1 that a seed decides. */
function drawFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Lets the writer go on until so many changes were acknowledged, kills it, and counts those of each client. */
async function writeUntilKilled(folder: string, durability: string, enough: number): Promise<Map<string, number>> {
  const args = ['--no-opt', WRITER, folder, durability, JSON.stringify(PLAN)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  let lines = 0
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (text: string) => {
    output += text
    lines += text.split('\n').length - 1
    if (lines > enough) child.kill('SIGKILL')
  })
  const [code, signal] = await once(child, 'close')
  expect([code, signal]).toEqual([null, 'SIGKILL'])
  const acknowledged = new Map<string, number>()
  for (const client of output.split('\n').slice(1, -1)) acknowledged.set(client, (acknowledged.get(client) ?? 0) + 1)
  return acknowledged
}

/** What a client has made in its account, and which accounts of its own there are. */
interface Works {
  domains: string[]
  groups: { name: string; domains: readonly string[] }[]
  spares: string[]
}

/** What a client has made when so many of its steps are done, and nothing of the next. */
function worksAfter(steps: number, account: number, client: number): Works {
  const works: Works = { domains: [], groups: [], spares: [] }
  for (let cycle = 0; cycle * STEPS < steps; cycle++) {
    const name = `${client}-${cycle}`
    const done = steps - cycle * STEPS
    works.domains.push(`${name}.x`, ...(done < 3 ? [`${name}.y`] : []))
    if (done > 1) {
      const domains = done < 3 ? [`${name}.x`, `${name}.y`] : [`${name}.x`]
      works.groups.push({ name: done < 4 ? name : `${name} done`, domains })
    }
    if (done === 5) works.spares.push(`spare-${account}-${name}`)
  }
  return works
}

function worksIn(state: AccountState, ids: readonly string[], account: number, client: number): Works {
  return {
    domains: [...state.domains.keys()].filter((name) => name.startsWith(`${client}-`)),
    groups: [...state.groups.values()]
      .filter(({ name }) => name.startsWith(`${client}-`))
      .map(({ name, domains }) => ({ name, domains })),
    spares: ids.filter((id) => id.startsWith(`spare-${account}-${client}-`)),
  }
}

/** How many of so many steps change the account, and not one of the client's own. */
function changesIn(steps: number): number {
  return Math.floor(steps / STEPS) * 4 + Math.min(4, steps % STEPS)
}

async function proveNothingLost(store: Store, acknowledged: ReadonlyMap<string, number>): Promise<void> {
  const ids = await store.list()
  for (let account = 0; account < PLAN.accounts; account++) {
    const id = `account-${account}`
    const state = await store.read(id)
    let changes = 0
    for (let client = 0; client < PLAN.clients; client++) {
      const steps = acknowledged.get(`${account} ${client}`) ?? 0
      changes += changesIn(steps)
      // The step that was under way is done or not; there is nothing in between.
      const lawful = [worksAfter(steps, account, client), worksAfter(steps + 1, account, client)]
      expect(lawful).toContainEqual(worksIn(state, ids, account, client))
    }
    const { quotas, tallies } = await store.counters(id)
    const used = quotas.get('bucket')?.used ?? 0
    const { matched = 0, hits = 0 } = tallies.get('fault_1') ?? {}
    expect(hits).toBe(matched)
    for (const counted of [used, matched]) {
      expect(counted).toBeGreaterThanOrEqual(changes)
      expect(counted).toBeLessThanOrEqual(changes + PLAN.clients)
    }
  }
}

it(`has all that was acknowledged, and nothing by halves, after each of ${ROUNDS} kills at instants drawn from the seed ${SEED}`, async () => {
  const draw = drawFrom(SEED)
  const rounds = Array.from({ length: ROUNDS }, (_, round) => ({
    enough: Math.floor(draw() ** 2 * 400),
    durability: round % 5 === 0 ? 'fsync' : 'rename',
  }))
  const lengths: number[] = []
  async function play(): Promise<void> {
    for (let round = rounds.pop(); round !== undefined; round = rounds.pop()) {
      const folder = temporaryFolder()
      const acknowledged = await writeUntilKilled(folder, round.durability, round.enough)
      expect(readFileSync(join(folder, '.lock'), 'utf8')).toContain(hostname())
      const store = await openFolderStore(folder, SETTINGS)
      expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
      await proveNothingLost(store, acknowledged)
      await store.close()
      lengths.push([...acknowledged.values()].reduce((sum, each) => sum + each, 0))
    }
  }
  await Promise.all([play(), play(), play()])
  expect(lengths).toHaveLength(ROUNDS)
  expect(Math.max(...lengths)).toBeGreaterThan(200)
}, 120_000)

it('opens a hundred accounts at once after a kill', async () => {
  const folder = temporaryFolder()
  const first = await openFolderStore(folder, SETTINGS)
  const domains = Array.from({ length: 100 }, (_, index) => ({ name: `d${index}.example`, addedAt: 0, features: [] }))
  const ids = Array.from({ length: 100 }, (_, index) => `account-${index}`)
  await Promise.all(ids.map((id) => first.create(decodeAccount({ ...exampleRecord(id, [id]), domains }, SETTINGS))))
  await first.close()
  const { pid } = spawnSync(process.execPath, ['--version'])
  writeFileSync(join(folder, '.lock'), JSON.stringify({ pid, host: hostname() }))
  const began = performance.now()
  const second = await openFolderStore(folder, SETTINGS)
  const taken = performance.now() - began
  onTestFinished(() => second.close())
  expect(await second.list()).toHaveLength(100)
  // It takes a hundredth of that; the machine may have other things to do.
  expect(taken).toBeLessThan(10_000)
})

it('has on the disk, when it is answered, neither a deleted account nor the former holder of its id', async () => {
  const folder = temporaryFolder()
  const store = await openFolderStore(folder, SETTINGS)
  await store.create(exampleAccount('acme', ['k1']))
  await Promise.all([store.delete('acme'), store.create(exampleAccount('other', ['k2']))])
  await store.create(exampleAccount('acme', ['k3']))
  // As it stands on the disk at this moment, which is what a kill would leave.
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  await store.close()
  expect(names.toSorted()).toEqual(['account-acme.json', 'account-other.json'])
  expect(readFileSync(join(folder, 'account-acme.json'), 'utf8')).toContain('"k3"')
})
