import type { Profile } from '../independent-service/profile.ts'
import { IndependentService, type ServiceRequest, type ServiceResponse } from '../independent-service/service.ts'
import { Held, instant, isForbidden, type Kept, lifeFrom, type Origin } from './account.ts'
import { OPERATIONS } from './faults.ts'
import { BEGINNING, FIRST, secretOf } from './pool.ts'

/** What must come back, and who has a record of it. */
export interface Expected {
  response: ServiceResponse
  /** Of a refusal, also of one without a body. */
  code: string | undefined
  /** Absent for a path or a method that there is not. */
  operation: string | undefined
  /** The account whose key it has, or presents in a wrong way. */
  held: Held | undefined
  /** Whether its key was accepted. */
  isAccepted: boolean
  /** Whether a fault rule answers, or nobody. */
  isInjected: boolean
  /** The account before the request. */
  before: Kept | undefined
}

/** How an account begins whose clock stands. */
export const STANDING = { now: instant(BEGINNING), frozen: true }

const SANDBOX = /^Bearer (sandbox_\S+)$/

/** Everything that the stand-in keeps, as the specification and openapi.yaml have it. */
export class World {
  /** The machine's clock, in milliseconds since the Unix epoch. */
  now = BEGINNING
  readonly accounts = new Map<string, Held>()
  /** Secrets of keys that the service chose. */
  readonly secrets: string[] = []
  /** Ids of groups that an import has copied, and that an account whose past comes back gives again. */
  readonly copiedIds = new Set<string>()
  verdict = { requests: 0, injected: 0, violations: 0 }
  /** Whether the clocks of accounts stand unless somebody moves them, because nobody moves the machine's. */
  readonly isStanding: boolean
  readonly #profile: Profile
  readonly #nobody: IndependentService

  constructor(profile: Profile, isStanding: boolean) {
    this.#profile = profile
    this.isStanding = isStanding
    this.#nobody = new IndependentService(profile)
    this.#nobody.account.keys = []
    this.open('default', { fixture: FIRST, key: secretOf('main'), seed: 42 })
  }

  open(id: string, origin: Origin): Held {
    const usual = this.isStanding ? STANDING : {}
    const held = new Held(id, this.#profile, lifeFrom({ ...usual, ...origin }, this.now))
    this.accounts.set(id, held)
    return held
  }

  /** Whose key a value of Authorization presents. */
  holderOf(authorization = ''): Held | undefined {
    return [...this.accounts.values()].find(({ service }) => service.keyOf(authorization) !== undefined)
  }

  /** Whether another account has one of these keys. */
  isTaken(secrets: readonly string[], than?: Held): boolean {
    const holders = secrets.map((secret) => this.holderOf(`Bearer ${secret}`))
    const others = [...this.accounts.values()].filter((held) => held !== than)
    return (
      holders.some((holder) => holder !== undefined && holder !== than) ||
      others.some(({ account }) => account.keys.some(({ secret }) => secrets.includes(secret)))
    )
  }

  /** Answers a request as the service must. */
  ask(request: ServiceRequest): Expected {
    const { authorization } = request.headers
    const line = `${request.method} ${request.target.split('?')[0]?.replace('/api/v1', '')}`
    const operation = OPERATIONS[line]
    const isRouted = operation !== undefined
    const [, sandbox] = SANDBOX.exec(authorization ?? '') ?? []
    if (
      isRouted &&
      sandbox !== undefined &&
      this.holderOf(authorization) === undefined &&
      !this.accounts.has(sandbox)
    ) {
      this.open(sandbox, { fixture: FIRST, key: sandbox, seed: 42 })
    }
    const accepted = isRouted ? this.holderOf(authorization) : undefined
    const [, presented] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? []
    const held = accepted ?? this.holderOf(`Bearer ${presented}`)
    const service = accepted?.service ?? this.#nobody
    const before = held?.keep(this.now)
    if (held !== undefined) held.strike = undefined
    const response = service.answer(request, held?.clock(this.now) ?? this.now)
    const { outcome } = service
    const isInjected = held?.strike !== undefined
    this.verdict.requests += 1
    if (isInjected) this.verdict.injected += 1
    if (isForbidden(outcome)) this.verdict.violations += 1
    const isAccepted = accepted !== undefined && !(outcome.kind === 'refused' && outcome.check === 'key')
    const code = outcome.kind === 'refused' ? outcome.code : undefined
    return { response, code, operation, held, isAccepted, isInjected, before }
  }

  /** What the control plane does with the same request: by the same rules, but it costs no quota and meets no fault. */
  askFreely({ account, service }: Held, request: Omit<ServiceRequest, 'headers'>, now: number): string | undefined {
    const { charged } = account
    account.charged = new Map()
    const free = { ...this.#profile, checks: service.profile.checks.filter((check) => !AT_THE_GATE.includes(check)) }
    const plane = new IndependentService(free, {}, account)
    plane.answer({ ...request, headers: { 'content-type': 'application/json' } }, now)
    account.charged = charged
    return plane.outcome.kind === 'refused' ? plane.outcome.code : undefined
  }

  /** A server forgets what it keeps for itself alone. */
  forget(): void {
    this.verdict = { requests: 0, injected: 0, violations: 0 }
    for (const held of this.accounts.values()) {
      held.snapshots.clear()
      held.entries = []
      held.shown = undefined
    }
  }
}

const AT_THE_GATE = ['key', 'plan', 'limit', 'fault']
