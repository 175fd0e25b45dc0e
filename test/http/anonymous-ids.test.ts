import { describe, expect, it } from 'vitest'
import {
  ANONYMOUS_KINDS,
  type AnonymousKind,
  BLOCK,
  countAnonymousIds,
  shareAnonymousIds,
} from '../../src/http/anonymous-ids.ts'

/** What servers share: how many ordinals are taken, and whether anybody can ask. */
class Ledger {
  isAway = false
  readonly #taken = new Map<AnonymousKind, number>()

  reserve = async (kind: AnonymousKind, count: number): Promise<number> => {
    if (this.isAway) throw new Error('away')
    const taken = this.#taken.get(kind) ?? 0
    this.#taken.set(kind, taken + count)
    return taken + 1
  }

  async open(instance: string) {
    const { nextId } = await shareAnonymousIds(42, 'uuid', { reserve: this.reserve, instance })
    return nextId
  }
}

describe('ids of requests without an account', () => {
  it.each(ANONYMOUS_KINDS)('are, where one server is alone, its own: %s', async (kind) => {
    const [own, shared] = [countAnonymousIds(42, 'uuid'), await new Ledger().open('a')]
    for (let count = 0; count < 3 * BLOCK; count++) {
      expect(shared(kind)).toBe(own(kind))
      // A reservation is answered between two requests.
      if (count % 100 === 0) await new Promise(setImmediate)
    }
  })

  it('are never the same at two servers, nor of two kinds', async () => {
    const ledger = new Ledger()
    const servers = [await ledger.open('a'), await ledger.open('b'), await ledger.open('c')]
    const ids = new Set<string>()
    for (let count = 0; count < 2 * BLOCK; count++) {
      for (const next of servers) for (const kind of ANONYMOUS_KINDS) ids.add(next(kind))
      if (count % 100 === 0) await new Promise(setImmediate)
    }
    expect(ids.size).toBe(2 * BLOCK * servers.length * ANONYMOUS_KINDS.length)
  })

  it('stay unique while the ledger is away, and come from it again afterwards', async () => {
    const ledger = new Ledger()
    const servers = [await ledger.open('a'), await ledger.open('b')]
    const own = countAnonymousIds(42, 'uuid')
    const usual = new Set(Array.from({ length: 10 * BLOCK }, () => own('unauthenticated')))
    const ids: string[] = []
    const use = async (count: number) => {
      for (let each = 0; each < count; each++) {
        for (const next of servers) ids.push(next('unauthenticated'))
        if (each % 100 === 0) await new Promise(setImmediate)
      }
    }
    ledger.isAway = true
    await use(2 * BLOCK)
    expect(ids.filter((id) => usual.has(id))).toHaveLength(2 * BLOCK)
    ledger.isAway = false
    await use(BLOCK)
    await new Promise(setImmediate)
    expect(new Set(ids).size).toBe(ids.length)
    expect(usual.has(servers[0]?.('unauthenticated') ?? '')).toBe(true)
  })

  it('begin again where the ledger was emptied, and never from an ordinal that somebody has by then', async () => {
    const share = (instance: string) =>
      shareAnonymousIds(42, 'uuid', { reserve: (kind, count) => current.reserve(kind, count), instance })
    let current = new Ledger()
    const servers = [await share('a'), await share('b')]
    for (const { nextId } of servers) nextId('malformed')
    current = new Ledger()
    for (const { renew } of servers) await renew()
    const own = countAnonymousIds(42, 'uuid')
    expect(servers[0]?.nextId('malformed')).toBe(own('malformed'))
    const ids = servers.flatMap(({ nextId }) => Array.from({ length: BLOCK - 1 }, () => nextId('malformed')))
    expect(new Set(ids).size).toBe(ids.length)
  })
})
