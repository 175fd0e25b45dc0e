import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { stateWriterOf } from '../../src/accounts/export.ts'
import { recallPast } from '../../src/admin/past.ts'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { accept } from '../../src/domain/errors.ts'
import { explainEntry } from '../../src/explain/explanation.ts'
import * as timers from '../../src/ground/timers.ts'
import { Abandoned, runAtOnce } from '../../src/ground/work.ts'
import type { StandIn } from '../../src/start/stand-in.ts'
import { startObserved } from '../support/observed-service.ts'

const DOMAINS = Array.from({ length: 60 }, (_, index) => `host-${index}.example`)
const GROUPS = Array.from({ length: 40 }, (_, index) => ({ name: `Group ${index}`, domains: DOMAINS }))

const REQUESTS: [what: string, method: string, path: string, body: unknown][] = [
  ['a refused addition', 'POST', '/domains', { domains: ['no name', 'host-1.example'] }],
  ['a refused group', 'POST', '/domaingroups', { name: 'group 1', domains: ['unknown.example', 'host-2.example'] }],
  ['a refused removal', 'DELETE', '/domains', { domains: ['unknown.example', 'host-3.example'] }],
  ['a removal from all groups', 'DELETE', '/domains', { domains: ['host-3.example', 'host-4.example'] }],
  ['a read', 'GET', '/domaingroups', undefined],
  ['what the contract always forbids', 'POST', '/domaingroups', { name: 5 }],
]

async function startFull() {
  const opened: StandIn[] = []
  const open = (standIn: StandIn) => void opened.push(standIn)
  const service = await startObserved({ fixture: { domains: DOMAINS, groups: GROUPS } }, OPERATIONS, { open })
  const [standIn] = opened
  if (standIn === undefined) throw new Error('Nothing was opened.')
  return { service, standIn }
}

describe('an explanation', () => {
  it.each(REQUESTS)('of %s is the same, whatever changes in its pauses', async (_, method, path, body) => {
    const { service, standIn } = await startFull()
    await service.send(method, path, body)
    const { contract, store } = service
    const { journal, worlds } = standIn
    const entry = journal.newestFirst().next().value
    if (entry === undefined) throw new Error('Nothing was recorded.')
    const source = {
      ...{ account: await store.read('default'), contract, redact: journal.redactorFor(entry), publicKey: undefined },
      urls: standIn.urls,
      past: await recallPast(entry, { worlds, contract }),
      ...stateWriterOf(contract, entry.at),
    }
    const expected = runAtOnce(explainEntry(entry, source))
    const work = explainEntry(entry, source)
    for (let pause = 0; ; pause++) {
      const step = work.next()
      if (step.done) {
        expect(step.value).toEqual(expected)
        expect(pause).toBeGreaterThan(4)
        return
      }
      const removed = DOMAINS[pause % DOMAINS.length] ?? ''
      await store.update('default', ({ groups, ...state }) =>
        accept(
          {
            ...state,
            domains: state.domains.delete(removed).set(`new-${pause}.example`, {
              ...{ name: `new-${pause}.example`, addedAt: pause, features: [] },
            }),
            groups: groups.delete(groups.keys().next().value ?? ''),
          },
          undefined,
        ),
      )
    }
  })

  it('ends when its client has left', async () => {
    const { service, standIn } = await startFull()
    const { headers } = await service.send('POST', '/domains', { domains: ['no name'] })
    const control = await standIn.control()
    const request = { parameters: { 'request-id': String(headers['x-request-id']) }, query: {}, body: {} }
    const explain = (isGone: () => boolean) => control.run(control.operation('explainRequest'), { ...request, isGone })
    expect(await explain(() => false)).toMatchObject({ ok: true })
    // Each step takes longer than a turn.
    let now = performance.now()
    vi.spyOn(timers, 'elapsed').mockImplementation(() => {
      now += 10
      return now
    })
    onTestFinished(() => void vi.restoreAllMocks())
    await expect(explain(() => true)).rejects.toThrow(Abandoned)
    expect(await explain(() => false)).toMatchObject({ ok: true })
  })
})
