import type { Trouble } from './listener.ts'
import { BEGIN, KEY, play } from './playing.ts'
import { PLAIN, type Profile } from './profile.ts'
import { type Account, emptyAccount, IndependentService, type ServiceRequest, type ServiceResponse } from './service.ts'
import type { Session } from './sessions.ts'

/** What happens around a service that keeps the specification. */
export interface Circumstance {
  what: string
  profile?: Profile
  begin?: number
  prepare?(account: Account): void
  /** What other hands do before the request of this number. */
  between?(number: number, account: Account, now: number): void
  trouble?: Trouble
  /** Whether it happens to domains of a run of `verify` itself, whose names nobody else would use. */
  ofRun?: boolean
  /** How old the state is that a read shows, in milliseconds. */
  stale?: number
}

const HOUR = 3_600_000
const isRead = ({ method }: ServiceRequest) => method === 'GET' || method === 'HEAD'

/** A page of a gateway, in place of an answer of the service. */
function page(status: number): ServiceResponse {
  const body = Buffer.from(`<html><head><title>${status}</title></head><body><center>nginx</center></body></html>`)
  return {
    status,
    headers: [
      ['Content-Type', 'text/html'],
      ['Content-Length', String(body.length)],
    ],
    body,
  }
}

function adds(account: Account, name: string, now: number) {
  if (account.domains.includes(name)) return
  account.domains.push(name)
  account.addedAt.set(name, now)
}

function removes(account: Account, name: string) {
  account.domains = account.domains.filter((each) => each !== name)
  for (const group of account.groups) group.domains = group.domains.filter((each) => each !== name)
}

export const CIRCUMSTANCES: readonly Circumstance[] = [
  {
    what: 'every tenth read gets a 502 with a page',
    trouble: { with: (request, _, number) => (number % 10 === 3 && isRead(request) ? page(502) : 'pass') },
  },
  {
    what: 'every tenth request gets a 503 with a page, and the service never sees it',
    trouble: { with: (_, __, number) => (number % 10 === 7 ? page(503) : 'pass') },
  },
  {
    what: 'the first request gets a 502 with a page',
    trouble: { with: (_, __, number) => (number === 1 ? page(502) : 'pass') },
  },
  {
    what: 'every fifteenth request is cut off, and the service never sees it',
    trouble: { with: (_, __, number) => (number % 15 === 8 ? 'cut' : 'pass') },
  },
  { what: 'reads show what was one second ago', stale: 1_000 },
  {
    what: 'somebody else adds domains and a group',
    between(number, account, now) {
      if (number % 6 === 0) adds(account, `theirs-${number}.example`, now)
      if (number % 17 === 0) account.groups.push({ id: `theirs${number}`, name: `Theirs ${number}`, domains: [] })
    },
  },
  {
    what: 'somebody else removes a domain and adds it again',
    prepare: (account) => adds(account, 'theirs.example', BEGIN - 30 * HOUR),
    between(number, account, now) {
      if (number % 9 === 4) removes(account, 'theirs.example')
      if (number % 9 === 7) adds(account, 'theirs.example', now)
    },
  },
  {
    what: 'somebody else removes any domain and adds it again',
    ofRun: true,
    between(number, account, now) {
      const oldest = account.domains[0]
      if (number % 8 !== 5 || oldest === undefined) return
      removes(account, oldest)
      adds(account, oldest, now)
    },
  },
  {
    what: 'the grace week of the key ends',
    prepare(account) {
      for (const key of account.keys) key.createdAt = BEGIN + 15_000 - 7 * 24 * HOUR
    },
  },
  { what: 'the figures are refreshed at midnight', begin: Date.parse('2026-01-29T23:59:52Z') },
  {
    what: 'gzip that nobody asked for',
    profile: { ...PLAIN, name: 'packed', wire: { ...PLAIN.wire, gzip: 'always' } },
  },
]

/** The service under a circumstance; what the way does with requests is for the one who carries them. */
export function serviceUnder({ profile = PLAIN, prepare, between, stale }: Circumstance) {
  const account = emptyAccount([KEY])
  prepare?.(account)
  const service = new IndependentService(profile, {}, account)
  const states: { at: number; state: Account }[] = []
  let requests = 0

  function answer(request: ServiceRequest, now: number): ServiceResponse {
    between?.(++requests, account, now)
    if (stale === undefined) return service.answer(request, now)
    if (states.length === 0) states.push({ at: now, state: structuredClone(account) })
    if (!isRead(request)) {
      const response = service.answer(request, now)
      states.push({ at: now, state: structuredClone(account) })
      return response
    }
    const old = states.findLast(({ at }) => at <= now - stale) ?? states[0]
    if (old === undefined) return service.answer(request, now)
    const current = { ...account }
    // What was counted is never old.
    Object.assign(account, structuredClone(old.state), { charged: account.charged })
    const response = service.answer(request, now)
    Object.assign(account, current)
    return response
  }
  return { account, answer }
}

/** The exchanges of a session with the service under a circumstance. Only where nobody interferes, there is a sole writer. */
export function playUnder(circumstance: Circumstance, session: Session) {
  const { trouble, begin, between, stale } = circumstance
  const exchanges = play(session, serviceUnder(circumstance), {
    trouble,
    begin,
    pace: stale === undefined ? 1_500 : 300,
  })
  return { exchanges, isSoleWriter: between === undefined && stale === undefined }
}
