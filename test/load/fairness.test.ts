import { describe, expect, it, vi } from 'vitest'
import type { Fixture } from '../../src/domain/fixture.ts'
import * as timers from '../../src/ground/timers.ts'
import { Turns } from '../../src/ground/turns.ts'
import { openFolderStore } from '../../src/store/folder/folder-store.ts'
import { sample } from '../support/budget.ts'
import { askControl } from '../support/control-plane.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** How often the work lets others have a turn, where every turn is over as soon as somebody asks whether it is. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let time = 0
  const spies = [
    vi.spyOn(timers, 'elapsed').mockImplementation(() => {
      time += 100
      return time
    }),
    vi.spyOn(Turns.prototype, 'next'),
  ]
  await work()
  const turns = spies[1]?.mock.calls.length ?? 0
  for (const spy of spies) spy.mockRestore()
  return turns
}

const MANY = 4_000
const list = <Item>(item: (index: number) => Item) => Array.from({ length: MANY }, (_, index) => item(index))
const name = (index: number) => `d${index}.example`
const LARGE: Readonly<Record<string, [fixture: Fixture, status: number]>> = {
  'domains as strings': [{ domains: list(name) }, 200],
  'domains as objects': [{ domains: list((index) => ({ name: name(index), volume: 1 })) }, 200],
  'domains that were removed': [{ former_domains: list((index) => ({ name: name(index) })) }, 200],
  groups: [{ groups: list((index) => ({ name: `Group ${index}` })) }, 200],
  members: [{ domains: list(name), groups: [{ name: 'G', domains: list(name) }] }, 200],
  'members that are no domains at their end': [
    { domains: list(name), groups: [{ name: 'G', domains: [...list(name), 'no domain'] }] },
    400,
  ],
  'what is no domain at its end': [{ domains: [...list(name), 'no domain'] }, 400],
}
/** Others are let in after as many small items at least. */
const APART = 500

describe('A large import', () => {
  it.each(sample(Object.entries(LARGE), 3))('of %s lets others in between', async (_, [fixture, status]) => {
    const service = await startService()
    const body = JSON.stringify(fixture)
    const turns = await turnsDuring(async () => {
      expect((await askControl(service, 'PUT', '/accounts/default/state', body)).status).toBe(status)
    })
    expect(turns).toBeGreaterThan(MANY / APART)
  })

  it('in a folder lets others in between while it is written, changed and reset', async () => {
    const store = await openFolderStore(temporaryFolder(), { nameComparison: 'unicode' })
    const service = await startService({ store, fixture: { domains: list(name) } })
    const changes: [method: string, path: string, body: object, least: number][] = [
      ['PUT', '/state', { domains: list(name) }, MANY / APART],
      // What was not changed is known as text already.
      ['PUT', '/domains/d7.example/features', { features: ['x'] }, 0],
      ['POST', '/reset', {}, MANY / APART],
    ]
    for (const [method, path, body, least] of changes) {
      const turns = await turnsDuring(async () => {
        expect((await askControl(service, method, `/accounts/default${path}`, body)).status).toBe(200)
      })
      expect(turns, path).toBeGreaterThan(least)
    }
  })
})
