import type { Choices } from '../contract/choices.ts'
import { isRefusedBy } from '../contract/rules.ts'
import { Turns } from '../ground/turns.ts'
import { AccountTrack, type Mismatch } from './account-track.ts'
import { Explainer, type Explanation, isListing } from './behaviour.ts'
import { Decided } from './decided.ts'
import type { Credentials, Exchange } from './exchange.ts'
import type { Finding, Label } from './finding.ts'
import { hypothesesFor } from './hypotheses.ts'
import { type Assignment, type Observation, Observations } from './observation.ts'
import { type Purpose, purposeOf } from './purpose.ts'
import { createReader, type Reading } from './reading.ts'
import { Variants } from './variants.ts'

export interface InvestigationOptions {
  choices: Choices
  /** Whether nobody else changes the account while it is looked at, so that what was once seen stays as it is. */
  isSoleWriter?: boolean
  /** Whether a domain or the name of a group is one that nobody else would use. */
  isOwnName?(name: string): boolean
}

/** What was found out so far. */
export interface Conclusion {
  /** All that were taken, and those of which the behaviour could be judged. */
  exchanges: number
  judged: number
  findings: readonly Finding[]
  /** How many findings there were of each id; only the first ones are listed. */
  counts: Readonly<Record<string, number>>
  observations: readonly Observation[]
  /** The texts of messages, by code or by `operationId` of a success. */
  messages: Readonly<Record<string, readonly string[]>>
}

/** How many findings are kept, each of another id. */
const FINDINGS_LIMIT = 1_000
/** How many texts of messages are kept of each kind. */
const MESSAGES_LIMIT = 5
/** How many keys are told apart. What comes with further ones is judged as the requests of one unknown account. */
const TRACKS_LIMIT = 1_000
/** In milliseconds, how long a judgement goes on before others have their turn: it must not delay what is passed on. */
const TURN = 1

/**
 * Judges exchanges with one service, in the order in which they were sent, and learns from each what the account holds.
 * All that judge exchanges ask it: there is no second judgement.
 */
export class Investigation {
  readonly #options: InvestigationOptions
  readonly #variants: Variants
  readonly #read: (exchange: Exchange) => Reading | undefined
  readonly #observations = new Observations()
  readonly #decided = new Decided()
  readonly #tracks = new Map<string, AccountTrack>()
  readonly #findings = new Map<string, { finding: Finding; count: number }>()
  readonly #messages = new Map<string, Set<string>>()
  #exchanges = 0
  #judged = 0
  #turns = new Turns(TURN)

  private constructor(options: InvestigationOptions, variants: Variants) {
    this.#options = options
    this.#variants = variants
    this.#read = createReader(options.choices.contract)
  }

  /** Compiles the contract under each alternative, which takes about a second. */
  static async begin(options: InvestigationOptions): Promise<Investigation> {
    return new Investigation(options, await Variants.load(options.choices))
  }

  /**
   * Judges the next exchange; resolves to its own findings. It works in short turns, so that a server beside it is never
   * kept waiting. Calls must not overlap.
   */
  async take(exchange: Exchange): Promise<readonly Finding[]> {
    this.#exchanges++
    this.#turns = new Turns(TURN)
    const reading = this.#read(exchange)
    if (reading === undefined) {
      this.#forgetAfter(exchange)
      return []
    }
    this.#noteMessage(reading)
    const findings: Finding[] = []
    await this.#judge(reading, (finding) => findings.push(finding))
    for (const finding of findings) this.#keep(finding)
    return findings
  }

  /** Says that exchanges were left out: what was known of the accounts may have changed. */
  forget(): void {
    for (const track of this.#tracks.values()) track.suspense.end()
    this.#tracks.clear()
  }

  /** What was found out so far; more can be taken afterwards. */
  conclude(): Conclusion {
    const findings = [...this.#findings.values()]
    const observations = new Observations()
    for (const each of this.#observations.all) observations.add(each)
    for (const track of this.#tracks.values()) for (const each of track.likely) observations.add(each)
    return {
      exchanges: this.#exchanges,
      judged: this.#judged,
      findings: findings.map(({ finding }) => finding),
      counts: Object.fromEntries(findings.map(({ finding, count }) => [finding.id, count])),
      observations: observations.all,
      messages: Object.fromEntries([...this.#messages].map(([kind, texts]) => [kind, [...texts]])),
    }
  }

  async #judge(reading: Reading, report: (finding: Finding) => void): Promise<void> {
    const { exchange, operation, outcome, response } = reading
    const track = this.#trackOf(exchange.request.credentials)
    const purpose = purposeOf(reading)
    const mayChange = changesSomething(exchange.request.method)
    if (exchange.request.method === 'HEAD') return this.#judgeHead(reading)
    const isJudged =
      outcome.kind !== 'unreadable' &&
      response.status < 500 &&
      !(outcome.kind === 'refusal' && outcome.code === 'internal_error')
    const isRead = exchange.request.body.isKnown || operation?.readsBody !== true
    if (!isJudged || !isRead) {
      // Whether the change was made is not known.
      if (mayChange && (outcome.kind !== 'refusal' || response.status >= 500))
        track.forget(purpose, operation?.id ?? '')
      return
    }
    if (!this.#judgeGate(reading, track, report)) {
      if (mayChange && track.wasAdmitted) await this.#judgeCap(reading, purpose, track)
      return
    }
    this.#judged++
    await this.#judgeBehaviour(reading, purpose, track, report)
  }

  /** A key that is valid before and after is refused in between where the account can have no more of something. */
  async #judgeCap(reading: Reading, purpose: Purpose, track: AccountTrack): Promise<void> {
    const { exchange, operation, outcome } = reading
    if (operation === undefined || outcome.kind !== 'refusal' || outcome.code !== 'unauthorized') return
    const { isSoleWriter = false, isOwnName = () => false } = this.#options
    const relies = { onAll: !exchange.overlaps, isOwn: isOwnName }
    const { worlds, facts } = hypothesesFor(reading, purpose, track.knowledge, relies)
    const { isExplained, allows } = await this.#explain(reading, purpose, worlds, exchange.until)
    if (!isExplained || allows.length === 0) return
    const relied = new Set([...(isSoleWriter ? [] : facts), 'key'])
    track.suspense.add(
      relied,
      () => this.#observeAll(allows, exchange),
      () => {},
    )
  }

  /** HEAD is like GET, or a wrong method. A response without a body shows it by its status alone. */
  #judgeHead({ exchange, operation, response }: Reading): void {
    const choices = this.#variants.choicesOf('head')
    if (choices === undefined || operation === undefined) return
    const isGet = response.status < 300
    if (!isGet && response.status !== 405) return
    const numbers = [...choices.values.keys()].filter((number) => (choices.values[number] === 'get') === isGet)
    this.#observe(
      numbers.map((number) => ({ [choices.id]: number })),
      exchange,
    )
  }

  /** Whether the request came past key, plan and quota, so that its behaviour can be judged. */
  #judgeGate(reading: Reading, track: AccountTrack, report: (finding: Finding) => void): boolean {
    const { exchange, operation, outcome } = reading
    const { credentials } = exchange.request
    const form = formOf(credentials)
    const code = outcome.kind === 'refusal' ? outcome.code : undefined
    if (code === 'rate_limited') return false
    if (code === 'unauthorized') {
      if (operation === undefined) this.#observeSetting('routing', (value) => value === 'after-key', exchange)
      else if (form === 'any-case' && track.wasAdmitted) {
        const observe = () => this.#observeSetting('authorizationScheme', (value) => value === 'exact', exchange)
        track.suspense.add(new Set(['key']), observe, () => {})
      }
      return false
    }
    if (operation === undefined) {
      if (form === 'none' || form === 'wrong')
        this.#observeSetting('routing', (value) => value === 'before-key', exchange)
      return true
    }
    if (form === 'any-case') this.#observeSetting('authorizationScheme', (value) => value === 'any-case', exchange)
    if (form === 'none' || form === 'wrong') {
      const rule = operation.rules.find((each) => isRefusedBy(each, 'unauthorized', undefined))
      report(
        this.#finding(
          reading,
          'broken rule',
          rule?.id ?? 'key',
          'The request had no key, and was answered nevertheless.',
          rule,
        ),
      )
    }
    if (form === 'exact') {
      track.wasAdmitted = true
      track.suspense.confirm('key')
    }
    return true
  }

  async #judgeBehaviour(
    reading: Reading,
    purpose: Purpose,
    track: AccountTrack,
    report: (finding: Finding) => void,
  ): Promise<void> {
    const { exchange, operation, outcome, response } = reading
    const { isSoleWriter = false, isOwnName = () => false } = this.#options
    const now = serviceTime(response.headers['date']) ?? exchange.until
    const relying = hypothesesFor(reading, purpose, track.knowledge, { onAll: !exchange.overlaps, isOwn: isOwnName })
    const facts = isSoleWriter ? new Set<string>() : relying.facts
    const known = await this.#explain(reading, purpose, relying.worlds, now)
    const isSuccess = outcome.kind === 'success'
    let explanation = known
    if (known.isExplained && operation?.id === 'deleteDomains') await this.#judgeFreedom(reading, purpose, track, now)
    if (facts.size === 0) {
      this.#observeAll(known.allows, exchange)
      if (known.isExplained) this.#reportDeviations(reading, known, report)
    } else {
      const open = hypothesesFor(reading, purpose, track.knowledge, { onAll: false, isOwn: isOwnName })
      const anyhow = await this.#explain(reading, purpose, open.worlds, now)
      this.#observeAll(anyhow.allows, exchange)
      if (known.isExplained) {
        if (isSuccess) for (const fact of facts) track.suspense.confirm(fact)
        this.#suspend(reading, known, anyhow, facts, track, report)
      } else {
        explanation = anyhow
        track.isShared = true
        for (const fact of facts) track.suspense.contradict(fact)
        if (anyhow.isExplained) report(this.#changedByAnother(reading, known))
      }
    }
    if (!explanation.isExplained) report(this.#breach(reading, purpose, track, known))
    if (!isSuccess) return
    if (isSoleWriter && changesSomething(exchange.request.method)) this.#forgetOthers(track)
    if (exchange.overlaps || !known.isExplained) {
      if (changesSomething(exchange.request.method)) track.forget(purpose, operation?.id ?? '')
      if (exchange.overlaps) return
    }
    if (operation !== undefined && isListing(operation.id, outcome.data)) this.#compareList(reading, track, now, report)
    else track.learn(reading, purpose, known.isExplained ? known : undefined, now)
  }

  /**
   * A domain that was just added is used by no feature. That counts when the domain is removed later, which no service
   * allows while it is used.
   */
  async #judgeFreedom(reading: Reading, purpose: Purpose, track: AccountTrack, now: number): Promise<void> {
    const { exchange, outcome } = reading
    if (outcome.kind === 'success') {
      for (const name of purpose.names) track.suspense.confirm(`free ${name}`)
      return
    }
    const { isOwnName = () => false } = this.#options
    const relies = { onAll: !exchange.overlaps, onFreedom: true, isOwn: isOwnName }
    const { worlds, facts } = hypothesesFor(reading, purpose, track.knowledge, relies)
    if (![...facts].some((fact) => fact.startsWith('free '))) return
    const { allows } = await this.#explain(reading, purpose, worlds, now)
    if (allows.length > 0)
      track.suspense.add(
        facts,
        () => this.#observeAll(allows, exchange),
        () => {},
      )
  }

  /** With what is certain by now; without it where that does not explain the exchange. */
  async #explain(
    reading: Reading,
    purpose: Purpose,
    worlds: ReturnType<typeof hypothesesFor>['worlds'],
    now: number,
  ): Promise<Explanation> {
    const explainer = new Explainer(this.#variants, reading, purpose, worlds, now, () => this.#pause())
    const { fixed } = this.#decided
    const explanation = await explainer.explain(fixed)
    if (explanation.isExplained || Object.keys(fixed).length === 0) return explanation
    const free = await explainer.explain({})
    return free.isExplained ? free : explanation
  }

  /** Two keys may belong to one account, so what was changed with one may be what is known of the other. */
  #forgetOthers(track: AccountTrack): void {
    for (const [name, other] of this.#tracks) if (other !== track) this.#tracks.delete(name)
  }

  /** What relies on knowledge waits until it is shown that nobody else has changed it. */
  #suspend(
    reading: Reading,
    known: Explanation,
    anyhow: Explanation,
    facts: ReadonlySet<string>,
    track: AccountTrack,
    report: (finding: Finding) => void,
  ): void {
    const { exchange } = reading
    if (known.allows.length > 0)
      track.suspense.add(
        facts,
        () => this.#observeAll(known.allows, exchange),
        () => {},
      )
    if (Object.keys(known.deviations).length === 0) return
    if (Object.keys(anyhow.deviations).length > 0) {
      this.#reportDeviations(reading, known, report)
      return
    }
    const later = (finding: Finding) => this.#keep(finding)
    track.suspense.add(
      facts,
      () => this.#reportDeviations(reading, known, later),
      () => this.#keep(this.#changedByAnother(reading, known)),
    )
  }

  #reportDeviations(
    reading: Reading,
    { deviations, isAmbiguous, expected }: Explanation,
    report: (finding: Finding) => void,
  ): void {
    const all = Object.entries(deviations)
    if (all.length === 0) return
    const would = describeExpected(expected)
    if (isAmbiguous) {
      const names = all.map(([id, number]) => `${id}/${number}`).join(' and ')
      report(
        this.#finding(
          reading,
          'cannot tell',
          names,
          `${would} More than one assumption explains the difference, among them ${names}.`,
        ),
      )
      return
    }
    for (const [id, number] of all) {
      const finding = this.#finding(
        reading,
        'decides assumption',
        `${id}/${number}`,
        `${would} The service has chosen alternative ${number} of ${id}.`,
      )
      report({ ...finding, assumption: id, alternative: number })
    }
  }

  #compareList(reading: Reading, track: AccountTrack, now: number, report: (finding: Finding) => void): void {
    const { mismatches, allows, likely, isOutOfOrder } = track.compareList(reading, now)
    this.#observeAll(allows, reading.exchange)
    track.remember(likely, reading.exchange.id)
    const certain = mismatches.filter(({ isCertain }) => isCertain)
    const [other] = mismatches.filter(({ isCertain }) => !isCertain)
    for (const mismatch of certain) report(this.#describeMismatch(reading, mismatch))
    if (other !== undefined && certain.length === 0) {
      const message = `${other.message} Another client may have changed the account since ${other.since || 'it was listed'}.`
      report(this.#finding(reading, 'cannot tell', 'changed', message))
    }
    if (isOutOfOrder)
      report(this.#finding(reading, 'unexplained', 'order', 'The list is in no order that any choice gives.'))
  }

  #describeMismatch(reading: Reading, { message, since }: Mismatch): Finding {
    return this.#finding(
      reading,
      'unexplained',
      'state',
      `${message} By ${since || 'an earlier response'}, it should be otherwise.`,
    )
  }

  #changedByAnother(reading: Reading, { expected }: Explanation): Finding {
    const message = `${describeExpected(expected)} Another client may have changed the account.`
    return this.#finding(reading, 'cannot tell', 'changed', message)
  }

  /** What no state of the account and no choice explains. */
  #breach(reading: Reading, purpose: Purpose, track: AccountTrack, { expected }: Explanation): Finding {
    const { operation, outcome } = reading
    const would = describeExpected(expected)
    if (outcome.kind === 'success') {
      for (const each of expected) {
        if (each.ok) continue
        const [{ code, reason }] = each.problems
        const rule = operation?.rules.find((candidate) => isRefusedBy(candidate, code, reason))
        if (rule !== undefined) return this.#finding(reading, 'broken rule', rule.id, `${rule.says} ${would}`, rule)
      }
      const [id = ''] = purpose.ids
      const group = track.knowledge.groups.get(id)
      const evidence = {
        query: Object.fromEntries(purpose.ids.slice(0, 1).map((each) => ['id', each])),
        body: purpose.body,
        ...(group?.exists && { group: { id, name: group.name, domains: group.domains } }),
        unrecognised: [],
      }
      const rule = operation?.rules.findLast(
        (candidate) => candidate.when !== undefined && candidate.refuses.length === 0 && candidate.matches(evidence),
      )
      if (rule !== undefined) return this.#finding(reading, 'broken rule', rule.id, `${rule.says} ${would}`, rule)
    }
    const what = outcome.kind === 'refusal' ? outcome.code : 'data'
    return this.#finding(
      reading,
      'unexplained',
      what,
      `${would} No choice and nothing that the account may hold explains it.`,
    )
  }

  #finding(
    reading: Reading,
    label: Label,
    what: string,
    message: string,
    rule?: { id: string; place: string },
  ): Finding {
    const { exchange, operation, response, path, query } = reading
    const subject = operation?.id ?? `${exchange.request.method} outside`
    const { basePath } = this.#options.choices.contract
    const below = path.startsWith(basePath) ? path.slice(basePath.length) : path
    return {
      id: `${label.replaceAll(' ', '-')}/${subject}/${response.status}/${what}`,
      label,
      ...(rule !== undefined && label === 'broken rule' && { rule: rule.id, pointer: rule.place }),
      request_id: exchange.id,
      method: exchange.request.method,
      path: query === undefined ? below : `${below}?${query}`,
      status: response.status,
      message,
    }
  }

  #keep(finding: Finding): void {
    const kept = this.#findings.get(finding.id)
    if (kept !== undefined) kept.count++
    else if (this.#findings.size < FINDINGS_LIMIT) this.#findings.set(finding.id, { finding, count: 1 })
  }

  #observeSetting(
    name: Parameters<Variants['choicesOf']>[0],
    fits: (value: unknown) => boolean,
    exchange: Exchange,
  ): void {
    const choices = this.#variants.choicesOf(name)
    if (choices === undefined) return
    const numbers = [...choices.values.keys()].filter((number) => fits(choices.values[number]))
    this.#observe(
      numbers.map((number) => ({ [choices.id]: number })),
      exchange,
    )
  }

  #observeAll(all: readonly (readonly Assignment[])[], exchange: Exchange): void {
    for (const allows of all) this.#observe(allows, exchange)
  }

  #observe(allows: readonly Assignment[], { id }: Exchange): void {
    if (allows.length === 0) return
    this.#observations.add({ allows, evidence: [id], count: 1 })
    this.#decided.add(allows)
  }

  #noteMessage({ operation, outcome }: Reading): void {
    if (outcome.kind === 'unreadable') return
    const data = outcome.kind === 'success' ? outcome.data : undefined
    const own = typeof data === 'object' && data !== null && 'message' in data ? data.message : undefined
    const [kind, text] = outcome.kind === 'refusal' ? [outcome.code, outcome.message] : [operation?.id, own]
    if (kind === undefined || typeof text !== 'string') return
    const texts = this.#messages.get(kind) ?? new Set()
    if (texts.size < MESSAGES_LIMIT) this.#messages.set(kind, texts.add(text))
  }

  /** After a request that got no response, nobody knows what it has changed. */
  #forgetAfter(exchange: Exchange): void {
    if (!changesSomething(exchange.request.method)) return
    const reading = this.#read({
      ...exchange,
      response: { status: 0, headers: {}, body: { isKnown: false, reason: '' } },
    })
    if (reading !== undefined)
      this.#trackOf(exchange.request.credentials).forget(purposeOf(reading), reading.operation?.id ?? '')
  }

  #trackOf(credentials: Credentials): AccountTrack {
    const name = credentials.kind === 'sent' && this.#tracks.size < TRACKS_LIMIT ? credentials.key : ''
    const known = this.#tracks.get(name)
    if (known !== undefined) return known
    const { isSoleWriter = false, isOwnName = () => false } = this.#options
    const track = new AccountTrack(this.#variants, isSoleWriter, isOwnName)
    this.#tracks.set(name, track)
    return track
  }

  async #pause(): Promise<void> {
    if (this.#turns.isOver()) await this.#turns.next()
  }
}

function changesSomething(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}

/** Whether a request carries a key in the form of the specification, in another case, in no such form, or not at all. */
function formOf(credentials: Credentials): 'exact' | 'any-case' | 'wrong' | 'none' | 'unknown' {
  if (credentials.kind !== 'sent') return credentials.kind
  const { scheme, isWord } = credentials
  if (!isWord) return 'wrong'
  if (scheme === 'Bearer') return 'exact'
  return scheme.toLowerCase() === 'bearer' ? 'any-case' : 'wrong'
}

/** RFC 9110 §5.6.7. In milliseconds. */
function serviceTime(date: string | undefined): number | undefined {
  const time = date === undefined ? Number.NaN : Date.parse(date)
  return Number.isNaN(time) ? undefined : time
}

function describeExpected(expected: Explanation['expected']): string {
  const [first] = expected
  if (first === undefined) return ''
  const answers = new Set(expected.map((each) => (each.ok ? 'a success' : each.code)))
  return `Expected ${[...answers].slice(0, 3).join(' or ')}.`
}
