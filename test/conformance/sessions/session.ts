import fc, { type Arbitrary } from 'fast-check'
import { OPERATIONS } from '../../../src/behaviour/operations/operations.ts'
import type { Contract } from '../../../src/contract/contract.ts'
import type { Exchange } from '../../../src/exchanges/exchange.ts'
import type { ServerOptions } from '../../../src/start/options.ts'
import { askControl } from '../../support/control-plane.ts'
import { exchangeWith } from '../../support/exchanges.ts'
import { API_KEY, openService, START, type TestService } from '../../support/service.ts'
import { type Asked, type Key, type Move, movesOf } from './moves.ts'

/** A client, or several, with one account; and which part of it somebody recorded. */
export interface Session {
  fixture: (typeof FIXTURES)[number]
  moves: readonly Move[]
  /** How many exchanges passed before the recording began. */
  skipped: number
  hasOthers: boolean
  /** How far the clock of the recorder is ahead, in milliseconds. */
  skew: number
  /** Whether the client begins with a look at everything. */
  looksFirst: boolean
}

export interface PlayedSession {
  exchanges: Exchange[]
  /** The ids of exchanges of which the request obeys the contract. */
  lawful: ReadonlySet<string>
}

const FIXTURES = ['empty', 'small', 'small', 'demo', 'edge-cases', 'agency'] as const
const SMALL = {
  domains: ['a.example', 'b.example', { name: 'used.example', features: ['mta-sts'] }],
  groups: [
    { name: 'Shop', domains: ['a.example'] },
    { name: 'Mail', domains: ['a.example', 'b.example'] },
    { name: 'Old' },
  ],
}
const KEYS: Record<Key, string | null> = {
  old: `Bearer ${API_KEY}`,
  own: `Bearer ${keyNamed('OwnOwn01')}`,
  young: `Bearer ${keyNamed('YoungKey')}`,
  off: `Bearer ${keyNamed('OffOff01')}`,
  none: null,
  foreign: `Bearer ${keyNamed('Foreign1')}`,
  malformed: 'Bearer',
  'lower-case': `bearer ${API_KEY}`,
}
/** How long a request takes. */
const PACE = 7

export function sessionOf(length: number): Arbitrary<Session> {
  return fc.boolean().chain((hasOthers) =>
    fc.record({
      fixture: fc.constantFrom(...FIXTURES),
      moves: movesOf({ hasOthers, length }),
      skipped: fc.oneof(fc.constant(0), fc.nat(10)),
      hasOthers: fc.constant(hasOthers),
      skew: fc.oneof({ arbitrary: fc.constant(0), weight: 3 }, fc.constantFrom(-1500, 900, 40_000)),
      looksFirst: fc.boolean(),
    }),
  )
}

/** Plays a session with a service under this contract, and returns what the recorder saw of it. */
export async function playSession(session: Session, contract: Contract): Promise<PlayedSession> {
  const open = (fixture: ServerOptions['fixture']) => openService({ fixture }, OPERATIONS, { contract })
  // Other choices forbid some of what a fixture holds.
  const service = await open(fixtureOf(session)).catch(() => open('empty'))
  try {
    return await play(session, service)
  } finally {
    await service.stop()
  }
}

async function play(session: Session, service: TestService): Promise<PlayedSession> {
  const { skew, skipped, moves, looksFirst } = session
  await addKeys(service)
  const seen: Exchange[] = []
  const lawful = new Set<string>()
  const groups: string[] = []
  let now = START
  const advance = (milliseconds: number) => {
    now += milliseconds
    service.advance(milliseconds)
  }

  async function ask(request: Asked, overlaps: boolean): Promise<Exchange> {
    const { method, body, headers, as, isLawful } = request
    const path = request.path.replaceAll(/\{(\d)\}/g, (_, index) => groups[Number(index) % groups.length] ?? 'NoGroup1')
    const at = now + skew
    const sent = { method, path, body, authorization: KEYS[as], overlaps, at, headers: headers ?? {} }
    const exchange = await exchangeWith(service.baseUrl, sent)
    exchange.until = at + PACE
    if (isLawful && as !== 'malformed' && as !== 'lower-case') lawful.add(exchange.id)
    for (const id of idsIn(exchange)) if (!groups.includes(id)) groups.unshift(id)
    return exchange
  }

  const look = ['/domains', '/domaingroups', '/dmarc'].map(readOf)
  for (const request of looksFirst ? look : []) seen.push(await ask(request, false))
  for (const move of moves) {
    if (move.kind === 'wait') advance(move.milliseconds)
    else if (move.kind === 'features') {
      const { domain, features } = move
      await askControl(service, 'PUT', `/accounts/default/domains/${domain}/features`, { features })
    } else if (move.kind === 'switch') {
      await askControl(service, 'PATCH', '/accounts/default/keys/OffOff01', { disabled: move.disabled })
    } else {
      if (move.kind === 'ask') seen.push(await ask(move.request, false))
      if (move.kind === 'other') await ask(move.request, false)
      if (move.kind === 'burst')
        for (let sent = 0; sent < move.count; sent++) seen.push(await ask(readOf(move.path), false))
      if (move.kind === 'together') seen.push(...(await Promise.all(move.requests.map((each) => ask(each, true)))))
      advance(PACE)
    }
  }
  return { exchanges: seen.slice(skipped), lawful }
}

function fixtureOf({ fixture }: Session): ServerOptions['fixture'] {
  return fixture === 'small' ? SMALL : fixture
}

function readOf(path: string): Asked {
  return { method: 'GET', path, as: 'old', isLawful: true }
}

async function addKeys(service: TestService): Promise<void> {
  for (const [name, secret] of Object.entries({ own: KEYS.own, young: KEYS.young, off: KEYS.off })) {
    const created_at = name === 'young' ? {} : { created_at: '2025-06-01T00:00:00Z' }
    const key = secret?.replace('Bearer ', '')
    await askControl(service, 'POST', '/accounts/default/keys', { key, label: name, ...created_at })
  }
}

/** The ids of groups that a response shows. */
function idsIn({ response }: Exchange): string[] {
  if (response?.body.isKnown !== true) return []
  return [...response.body.bytes.toString().matchAll(/"id":"([^"]+)"/g)].map(([, id = '']) => id)
}

function keyNamed(id: string): string {
  return `key_${id}.${'5'.repeat(48)}`
}
