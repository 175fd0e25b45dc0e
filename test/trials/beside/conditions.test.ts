import { once } from 'node:events'
import { request } from 'node:http'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import { asOverlay } from '../../../src/contract/overlay.ts'
import type { PairTerms } from '../../../src/trials/beside/session.ts'
import type { runCommand } from '../../../src/trials/command.ts'
import { type Client, type Send, startIn } from './clients-in-process.ts'
import { establish, openFor } from './open-session.ts'
import { RACERS } from './racers.ts'

/** A lock in the memory of both clients, in place of a file. */
function openLocks() {
  const holders = new Map<string, Promise<void>>()
  return async (name: string): Promise<() => void> => {
    while (holders.has(name)) await holders.get(name)
    let release = () => {}
    holders.set(name, new Promise((resolve) => (release = resolve)))
    return () => {
      holders.delete(name)
      release()
    }
  }
}

/** Short, because it is waited for. */
const SILENCE = 60

/** A client that works before it takes each lock, and has them all until its end. */
function locked(acquire: (name: string) => Promise<() => void>, names: string[], work: Client): Client {
  return async (send, signal) => {
    const releases: (() => void)[] = []
    for (const name of names) {
      await work(send, signal)
      releases.push(await acquire(name))
    }
    await work(send, signal)
    for (const release of releases) release()
  }
}

const read = (send: Send) => send('GET', '/domains')
const create = (send: Send, name: string) => send('POST', '/domaingroups', { name })

describe('Without serial orders to compare with, one sentence says', () => {
  let starts = 0
  const clients = {
    ...RACERS,
    async nothing() {},
    async fails(send: Send) {
      await read(send)
      throw new Error('no luck')
    },
    async create(send: Send) {
      await create(send, 'New')
    },
    async change(send: Send) {
      const { groups } = await send<{ groups: { id: string; name: string }[] }>('GET', '/domaingroups')
      const group = groups.find(({ name }) => name === 'New')
      if (group === undefined) throw new Error('there is no group')
    },
    // The third run is the first one in which both run at the same time.
    async listens(send: Send) {
      await read(send)
      if (++starts === 3) throw new Error('listen EADDRINUSE: address already in use 127.0.0.1:3000')
    },
    async unknownKey(send: Send) {
      await send('GET', '/domains', undefined, 'key_unknown').catch(() => {})
    },
  } satisfies Record<string, Client>

  it.each<[keyof typeof clients, keyof typeof clients, string]>([
    ['nothing', 'read', 'nothing sent no request with its key, so there is no order to try; …'],
    ['read', 'nothing', 'nothing sent no request with its key, so there is no order to try; …'],
    ['read', 'unknownKey', 'unknownKey sent no request with its key, so there is no order to try; …'],
    ['fails', 'read', 'in the order fails, then read, fails failed with exit code 1, and said: Error: no luck'],
    ['read', 'fails', 'in the order read, then fails, fails failed with exit code 1, and said: Error: no luck'],
    [
      'create',
      'change',
      'in the order change, then create, change failed with exit code 1, and said: Error: there is no group; the other order passed',
    ],
    [
      'read',
      'listens',
      'when both start at the same time, one after the other with their requests, listens failed with exit code 1, and said: Error: listen EADDRINUSE: address already in use 127.0.0.1:3000; both commands run at the same time, so each needs a port of its own',
    ],
  ])('of %s and %s: %s', async (one, other, sentence) => {
    const said = await openFor(clients, one, other).establish()
    expect(`${said}`.slice(0, sentence.length - 1)).toBe(sentence.slice(0, -1))
    expect(said).not.toContain('\n')
  })

  it('that a command waits for what only the other one can do', async () => {
    const waiting = {
      async waits(send: Send) {
        await read(send)
        await new Promise(() => {})
      },
      read: RACERS.read,
    }
    expect(await openFor(waiting, 'waits', 'read', { silence: SILENCE }).establish()).toBe(
      'in the order waits, then read, waits sent nothing for 0.18 s: it waits for what only the other command can do, so there is nothing to compare with',
    )
  })

  it('that a command gave up a request that was held', async () => {
    let leave = new AbortController()
    const impatient = {
      async slow(send: Send) {
        await read(send)
        leave.abort()
        await read(send)
      },
      async hasty(send: Send) {
        leave = new AbortController()
        await send('GET', '/domains', undefined, undefined, leave.signal).catch(() => {})
      },
    }
    expect(await openFor(impatient, 'slow', 'hasty').establish()).toMatch(
      /^when both start at the same time, one after the other with their requests, hasty gave up a request that was held /,
    )
  })

  it('that a command does not end the body of a request', async () => {
    const carryOut: typeof runCommand = (run) => {
      const { UNDERSTUDY_BASE_URL: base, UNDERSTUDY_API_KEY: key } = run.environment
      const endless: Client = async (_, signal) => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const sent = request(`${base}/domains`, { method: 'POST', headers, signal }).on('error', () => {})
        sent.write('{"domains":')
        await once(signal, 'abort')
      }
      return startIn({ endless, read: RACERS.read })(run)
    }
    const session = openFor({ endless: RACERS.read, read: RACERS.read }, 'endless', 'read', {
      ...{ silence: SILENCE, carryOut },
    })
    expect(await session.establish()).toBe(
      'in the order endless, then read, endless did not end the body of a request, and did nothing for 0.18 s',
    )
  })

  it('that it was told to stop', async () => {
    const stop = new AbortController()
    const clients = {
      ...RACERS,
      async stops(send: Send) {
        stop.abort()
        await read(send)
      },
    }
    expect(await openFor(clients, 'stops', 'read', { stop: stop.signal }).establish()).toMatch(
      /^explore was told to stop/,
    )
    expect(await openFor(clients, 'read', 'read', { runs: 2 }).establish()).toMatch(/^the budget was over/)
  })
})

describe('A search', () => {
  const search = async (clients: Record<string, Client>, terms: Partial<PairTerms> = {}) => {
    const [one = '', other = ''] = Object.keys(clients)
    const session = openFor(clients, one, other, terms)
    return session.search(await establish(session))
  }

  it('gives the turn to the other command if one waits without a request', async () => {
    const acquire = openLocks()
    const within = (work: Client): Client => {
      return async (send, signal) => {
        const release = await acquire('file')
        await work(send, signal)
        release()
      }
    }
    const [one, other] = [within(RACERS.appendB), within(RACERS.appendC)]
    expect(await search({ one, other }, { silence: SILENCE })).toMatchObject({ findings: [], flaky: [], left: 0 })
  })

  it('lets a command sleep for as long as it does when it is alone', async () => {
    const sleeps: Client = async (send) => {
      await read(send)
      await pause(2 * SILENCE)
      await create(send, 'New')
    }
    const found = await search({ sleeps, reads: RACERS.readTwice }, { silence: SILENCE, switches: 1 })
    expect(found).toMatchObject({ findings: [], left: 0, unjudged: 0, isReliable: true })
  })

  it('gives the turn back to a command that was silent and has sent a request meanwhile', async () => {
    let alone = true
    // Both sleep only when they have met: first one, and then the other one.
    const sleeper =
      (turns: number): Client =>
      async (send) => {
        await read(send)
        if (!alone) await pause(turns * SILENCE)
        await read(send)
      }
    const session = openFor({ one: sleeper(1.5), other: sleeper(2.5) }, 'one', 'other', { silence: SILENCE })
    const serial = await establish(session)
    alone = false
    const replayed = await session.replay([{ side: 1 }, { side: 0 }], serial)
    expect(replayed?.verdict).toBe('passed')
  })

  it('waits only once for a command that never sleeps', async () => {
    const startAwake: typeof runCommand = (run) =>
      startIn({ busy: RACERS.readTwice, read: RACERS.read })({
        ...run,
        started: (command) => run.started?.(run.command.includes('busy') ? { isAsleep: false } : command),
      })
    const clients = { busy: RACERS.readTwice, read: RACERS.read }
    const { runs } = await establish(openFor(clients, 'busy', 'read', { silence: SILENCE, carryOut: startAwake }))
    expect(runs.map(({ end }) => end.restless)).toEqual([
      [true, false],
      [true, false],
    ])
  })

  it('finds that both wait for each other', async () => {
    const one = (send: Send, signal: AbortSignal) => locked(acquire, ['a', 'b'], RACERS.addB)(send, signal)
    const other = (send: Send, signal: AbortSignal) => locked(acquire, ['b', 'a'], RACERS.addC)(send, signal)
    let acquire = openLocks()
    // A process that has ended holds no lock.
    const carryOut: typeof runCommand = (run) => startIn({ one, other })(run).finally(() => (acquire = openLocks()))
    const { findings } = await search({ one, other }, { silence: SILENCE, switches: 1, carryOut })
    expect(findings.map(({ verdict }) => verdict)).toEqual(['hang'])
  })

  it('says what is left when the budget is over, and tries each order of threads only within it', {}, async () => {
    const many: Client = async (send) => {
      await Promise.all(Array.from({ length: 100 }, () => send('GET', '/domaingroups')))
    }
    const found = await search({ many, other: RACERS.ensure }, { runs: 6, switches: 1 })
    expect(found).toMatchObject({ findings: [], possible: Number.MAX_SAFE_INTEGER })
    expect(found.left).toBeGreaterThan(0)
  })

  it('judges nothing from a run in which a held request was given up', async () => {
    let leave = new AbortController()
    const hasty: Client = async (send, signal) => {
      leave = new AbortController()
      await RACERS.addB(send, signal)
      await send('GET', '/domaingroups', undefined, undefined, leave.signal).catch(() => {})
    }
    const slow: Client = async (send, signal) => {
      await RACERS.addC(send, signal)
      leave.abort()
      await read(send)
    }
    const found = await search({ hasty, slow }, { switches: 1 })
    expect(found).toMatchObject({ findings: [], left: 0 })
    expect(found.unjudged).toBeGreaterThan(0)
  })

  it('waits until a command has sent what it can send, and lets it end with requests under way', async () => {
    const late: Client = async (send) => {
      const leave = new AbortController()
      const other = async () => {
        for (let turn = 0; turn < 8; turn++) await nextTurn()
        await send('GET', '/domains', undefined, undefined, leave.signal).catch(() => {})
      }
      await Promise.all([other(), send('GET', '/domaingroups').then(() => leave.abort())])
    }
    const { runs } = await establish(openFor({ late, read: RACERS.read }, 'late', 'read'))
    expect(runs.map(({ end: { steps } }) => steps.map(({ threads }) => threads))).toEqual([
      [[1, 2], [1]],
      [[1], [1, 2]],
    ])
  })

  it('runs every order if a quota refuses requests, because their count decides which ones', {}, async () => {
    const limit = { target: '$.paths["/domaingroups"]["x-quota"]', update: { limit: 4, grace: 1 } }
    const shared = { target: '$["x-settings"]["quota-scope"]', update: { value: 'account' } }
    const overlay = { overlay: '1.0.0', info: { title: 'Four', version: '1' }, actions: [limit, shared] }
    const contract = await loadContract({ overlays: [asOverlay(overlay, 'four.yaml')] })
    const careless =
      (...names: string[]): Client =>
      async (send) => {
        const { groups } = await send<{ groups: { id: string; name: string }[] }>('GET', '/domaingroups')
        for (const { id, name } of groups) {
          if (names.includes(name)) await send('DELETE', `/domaingroups?id=${id}`).catch(() => {})
        }
      }
    const fixture = { groups: ['1', '2', '3', '4'].map((name) => ({ name, domains: [] })) }
    const clients = { one: careless('1', '2'), other: careless('3', '4') }
    const { findings, equivalent } = await search(clients, { contract, options: { fixture } })
    expect(findings.map(({ verdict }) => verdict)).toContain('lost update')
    expect(equivalent).toBe(0)
  })

  it('runs the orders that it has left out when the commands turn out to be not always the same', async () => {
    let starts = 0
    const late: Client = async (send) => {
      // It is the same in the serial orders.
      await send('GET', ++starts > 3 ? '/dmarc' : '/domains')
      await send('POST', '/domains', { domains: ['x.example'] })
    }
    const other: Client = async (send) => {
      await read(send)
      await read(send)
    }
    const found = await search({ late, other })
    expect(found).toMatchObject({ findings: [], isReliable: false, possible: 6, tried: 6, equivalent: 0, left: 0 })
    expect(found.levels.map(({ of, tried }) => [of, tried])).toEqual([
      [2, 2],
      [2, 2],
      [2, 2],
    ])
  })

  it('runs every order of commands that are never the same', async () => {
    let count = 0
    const fresh: Client = async (send) => {
      await read(send)
      await send('POST', '/domains', { domains: [`host-${++count}.example`] })
    }
    const session = openFor({ fresh, other: RACERS.readTwice }, 'fresh', 'other', { switches: 1 })
    const serial = await establish(session)
    expect(serial.orders.isStable).toBe(false)
    expect(await session.search(serial)).toMatchObject({ findings: [], isReliable: false, equivalent: 0, tried: 4 })
  })
})
