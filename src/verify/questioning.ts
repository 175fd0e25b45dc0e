import type { DomainGroup } from '../domain/account.ts'
import { costOfRestoring } from './cleanup.ts'
import { type Conversation, HarmfulRequest, isOverQuota } from './conversation.ts'
import { intentOf, readDomains, readGroups } from './holdings.ts'
import type { PlannedProbe } from './plan.ts'
import { countByPath, hasKey, type ProbeRequest, type ProbeScene, quotaPathOf } from './probe.ts'
import { READ_DOMAINS, READ_GROUPS } from './probes.ts'

/** What became of a probe. */
export interface ProbeState extends PlannedProbe {
  isAsked: boolean
  /** Why it was not asked. */
  reason?: string
  /** Of a probe that has used up a quota: how many requests of the window the service has allowed. */
  allowed?: number
}

/** Why the asking ended before everything was asked, and one sentence about it. */
export interface EarlyEnd {
  kind: 'quota' | 'interrupted' | 'connection' | 'ledger'
  reason: string
}

type Outcome = { isAsked: true } | { reason: string } | { lacking: string }

interface QuestioningOptions {
  plan: readonly PlannedProbe[]
  /** The suffix of the domains of the run, without a dot. */
  suffix: string
}

/** The asking ends after this many consecutive windows in which it could ask nothing. */
const FRUITLESS_WINDOWS = 3
/** So many requests that succeed although nothing is left are no chance: other clients may have some in flight. */
const BEYOND = 4
/** How many requests may set up one probe. */
const MOST_SET_UPS = 5
/** How many domains are added at once, for later probes too: an hour allows few requests. */
const ADDED_AT_ONCE = 10

/** Asks the probes of a plan within the quotas. What a probe needs is set up before it. */
export class Questioning {
  ended: EarlyEnd | undefined
  /** Why the run must not write, if so. */
  unreadable: string | undefined
  readonly #conversation: Conversation
  readonly #suffix: string
  readonly #states: ProbeState[]
  #names = 0

  constructor(conversation: Conversation, { plan, suffix }: QuestioningOptions) {
    this.#conversation = conversation
    this.#suffix = suffix
    this.#states = plan.map((planned) => ({
      ...planned,
      // The first requests of the run answer these.
      isAsked: planned.probe === READ_GROUPS || planned.probe === READ_DOMAINS,
      ...(planned.barrier !== undefined && { reason: planned.barrier }),
    }))
  }

  /** How many probes were asked, and how many the run may ask. */
  get progress(): string {
    const planned = this.#states.filter(({ barrier }) => barrier === undefined)
    return `${this.#states.filter(({ isAsked }) => isAsked).length} of ${planned.length}`
  }

  /** What became of each probe, when nothing more is asked. */
  conclude(): readonly ProbeState[] {
    const reason = this.ended?.reason ?? 'the run ended before'
    return this.#states.map((state) => (isSettled(state) ? state : { ...state, reason }))
  }

  /** After a used-up quota, the run goes on, and a signal can still end it. */
  end(kind: EarlyEnd['kind'], reason: string): void {
    const isFirst = this.ended === undefined || (this.ended.kind === 'quota' && kind === 'interrupted')
    if (isFirst) this.ended = { kind, reason }
  }

  /** Asks what the quotas allow, waits if this is wanted, and continues until no probe is left that can be asked. */
  async askAll(): Promise<void> {
    const { budget, options } = this.#conversation
    for (let fruitless = 0; fruitless < FRUITLESS_WINDOWS; fruitless++) {
      const short = new Set<string>()
      for (const state of this.#states) {
        if (state.probe.exhausts === true || isSettled(state)) continue
        if (this.#isInterrupted()) return
        const lacking = await this.#tryProbe(state)
        if (lacking !== undefined) short.add(lacking)
        if (state.isAsked) fruitless = -1
      }
      if (short.size === 0) return
      if (!options.waits) return this.end('quota', 'the quotas of this window are used up')
      const [soonest = ''] = [...short].toSorted((one, other) => budget.untilReset(one) - budget.untilReset(other))
      await this.#conversation.waitFor(soonest)
      if (this.#isInterrupted()) return
    }
    this.end('quota', `in ${FRUITLESS_WINDOWS} windows, the quotas left no request to send`)
  }

  /** Uses up quotas on purpose. */
  async exhaust(): Promise<void> {
    const { budget, options } = this.#conversation
    for (const state of this.#states) {
      const { probe, sample } = state
      const [request] = sample
      if (probe.exhausts !== true || isSettled(state) || request === undefined) continue
      if (this.#isInterrupted()) return
      options.tell(probe.id)
      const path = quotaPathOf(request)
      const { limit = 0, remaining = limit } = budget.of(path) ?? {}
      if (remaining > limit) {
        state.reason = `the key has more than the ${limit} requests of the contract, as a new key may`
        continue
      }
      let isRefused = false
      for (let left = remaining + BEYOND; left > 0 && !isRefused && !options.signal.aborted; left--) {
        isRefused = (await this.#conversation.ask(request, probe.id)).code === 'rate_limited'
      }
      // Without a refusal, the requests until the signal answer nothing.
      if (!isRefused && this.#isInterrupted()) return
      state.isAsked = true
      if (isRefused) state.allowed = (budget.of(path)?.sent ?? 1) - 1
    }
  }

  #isInterrupted(): boolean {
    const { aborted } = this.#conversation.options.signal
    if (aborted) this.end('interrupted', 'the run was interrupted')
    return aborted
  }

  /** Returns the path whose quota is too small. */
  async #tryProbe(state: ProbeState): Promise<string | undefined> {
    this.#conversation.options.tell(state.probe.id)
    try {
      const outcome = await this.#ask(state)
      if ('lacking' in outcome) return outcome.lacking
      Object.assign(state, outcome)
    } catch (error) {
      if (!(error instanceof HarmfulRequest)) throw error
      state.reason = error.message
    }
    return undefined
  }

  async #ask({ probe: { id, alone, send }, sample, needs, writes }: PlannedProbe): Promise<Outcome> {
    if (this.unreadable !== undefined && writes) return { reason: this.unreadable }
    for (let sent = 0; ; sent++) {
      const setUp = this.#nextSetUp(needs)
      // It is useless to set up a probe that cannot be asked afterwards.
      const lacking = this.#lackingFor(setUp === undefined ? sample : [setUp, ...sample])
      if (lacking !== undefined) return { lacking }
      if (setUp === undefined) break
      if (sent >= MOST_SET_UPS) return { reason: 'the service did not accept what the probe needs' }
      if (isOverQuota(await this.#conversation.ask(setUp))) return { lacking: quotaPathOf(setUp) }
    }
    if (alone !== undefined && !(await this.#isAlone(alone))) {
      return { reason: `the account has ${alone} of others, which a wrong service might change` }
    }
    for (const request of [send(this.#sceneFor(needs))].flat()) {
      const path = quotaPathOf(request)
      // Another client may have spent meanwhile.
      if (hasKey(request) && this.#conversation.budget.left(path) < 1) return { lacking: path }
      const answer = await this.#conversation.ask(request, id)
      // A refusal for the quota says nothing about the question.
      if (isOverQuota(answer)) return { lacking: path }
      if (answer.isLost) return { reason: `the answer to ${request.method} ${request.path} was lost` }
    }
    return { isAsked: true }
  }

  /** The path whose quota is too small for the requests and the later cleanup. */
  #lackingFor(requests: readonly ProbeRequest[]): string | undefined {
    const { budget, options } = this.#conversation
    const { holdings, writes } = options
    const intents = requests.flatMap((request) => intentOf(request) ?? [])
    const groups = holdings.groups.size + intents.filter(({ group }) => group !== undefined).length
    const domains = holdings.domains.size + intents.flatMap((intent) => intent.domains).length
    const cleanup = writes ? costOfRestoring(groups, domains) : {}
    return [...countByPath(requests)].find(([path, count]) => budget.left(path) < count + (cleanup[path] ?? 0))?.[0]
  }

  async #isAlone(what: 'groups' | 'domains'): Promise<boolean> {
    const { holdings } = this.#conversation.options
    if (!holdings.hasOnlyOwn(what)) return false
    const path = what === 'groups' ? '/domaingroups' : '/domains'
    const { data } = await this.#conversation.ask({ method: 'GET', path })
    if (what === 'domains') return readDomains(data)?.every((name) => holdings.isOwnDomain(name)) ?? false
    return readGroups(data)?.every((group) => holdings.isOwnListedGroup(group)) ?? false
  }

  /** The next request that sets up a probe; `undefined` if everything is there. */
  #nextSetUp(needs: PlannedProbe['needs']): ProbeRequest | undefined {
    const { free } = this.#conversation.options.holdings
    const { missing } = this.#groupsFor(needs)
    const lacking = needs.domains + (missing ?? 0) - free.length
    if (lacking > 0) {
      const domains = Array.from({ length: Math.max(lacking, ADDED_AT_ONCE) }, this.#freshDomain)
      return { method: 'POST', path: '/domains', body: { domains } }
    }
    if (missing === undefined) return undefined
    const body = { name: this.#freshName(), ...(missing > 0 && { domains: free.slice(0, missing) }) }
    return { method: 'POST', path: '/domaingroups', body }
  }

  #sceneFor(needs: PlannedProbe['needs']): ProbeScene {
    const { mark, before, free } = this.#conversation.options.holdings
    const groups = this.#groupsFor(needs).found
    const next = <Item>(items: Item[]): Item => {
      const item = items.shift()
      if (item === undefined) throw new Error('A probe takes more than it needs.')
      return item
    }
    return {
      ...{ mark, fresh: this.#freshDomain, name: this.#freshName },
      own: () => next(free),
      group: () => next(groups),
      readableId: before?.groups[0]?.id ?? mark,
    }
  }

  /** The existing groups for a probe, and the number of members of the first missing group. */
  #groupsFor({ groups }: PlannedProbe['needs']): { found: DomainGroup[]; missing?: number } {
    const own = [...this.#conversation.options.holdings.groups.values()]
    const found: DomainGroup[] = []
    for (const members of groups) {
      const group = own.find((each) => each.domains.length >= members && !found.includes(each))
      if (group === undefined) return { found, missing: members }
      found.push(group)
    }
    return { found }
  }

  readonly #freshDomain = (): string => {
    return `${this.#conversation.options.holdings.mark}-${++this.#names}.${this.#suffix}`
  }
  readonly #freshName = (): string => `${this.#conversation.options.holdings.mark} ${++this.#names}`
}

/** Whether a probe was asked, or will not be. */
function isSettled({ isAsked, reason }: ProbeState): boolean {
  return isAsked || reason !== undefined
}
