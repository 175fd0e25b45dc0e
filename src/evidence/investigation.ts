import type { Choices } from '../contract/choices.ts'
import { isRefusedBy } from '../contract/rules.ts'
import type { Problem } from '../domain/errors.ts'
import { pointTo } from '../ground/json.ts'
import { Turns } from '../ground/turns.ts'
import { AccountTrack, type Mismatch } from './account-track.ts'
import { Explainer, type Explanation, isListing } from './behaviour.ts'
import { findBrokenRule } from './broken-rule.ts'
import { findContractProblems, findingOf } from './contract-problems.ts'
import { Decided } from './decided.ts'
import type { Credentials, Exchange } from './exchange.ts'
import { FigureTrack } from './figures.ts'
import type { Finding, Label } from './finding.ts'
import { hypothesesFor } from './hypotheses.ts'
import { type Assignment, type Observation, Observations } from './observation.ts'
import { Permitted } from './permitted.ts'
import { observePresentation } from './presentation.ts'
import { type Purpose, purposeOf } from './purpose.ts'
import { QuotaTrack } from './quotas.ts'
import { createReader, type Reading } from './reading.ts'
import type { Remarks } from './remarks.ts'
import { Variants } from './variants.ts'

export interface InvestigationOptions {
  choices: Choices
  /** Whether nobody else changes the account while it is looked at, so that what was once seen stays as it is. */
  isSoleWriter?: boolean
  /** Whether nobody else spends the quotas of its keys. */
  isSoleClient?: boolean
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
/** How many keys are told apart. What is known of the account of the oldest is forgotten when there are more. */
const TRACKS_LIMIT = 1_000
/** In milliseconds, how long a judgement goes on before others have their turn: it must not delay what is passed on. */
const TURN = 1

/** What is followed of one key. */
interface Tracks {
  account: AccountTrack
  quota: QuotaTrack
  figures: FigureTrack
}

const readings = new WeakMap<Choices, Promise<Permitted>>()

/**
 * Judges exchanges with one service, in the order in which they were sent, and learns from each what the account holds.
 * All that judge exchanges ask it: there is no second judgement.
 */
export class Investigation {
  readonly #options: InvestigationOptions
  readonly #variants: Variants
  readonly #permitted: Permitted
  readonly #read: (exchange: Exchange) => Reading | undefined
  readonly #observations = new Observations()
  readonly #decided = new Decided()
  readonly #tracks = new Map<string, Tracks>()
  readonly #findings = new Map<string, { finding: Finding; count: number }>()
  readonly #messages = new Map<string, Set<string>>()
  #exchanges = 0
  #judged = 0
  /** Whether the body of the response breaks the contract, so that nobody can expect it to make sense. */
  #isMalformed = false
  #turns = new Turns(TURN)

  private constructor(options: InvestigationOptions, variants: Variants, permitted: Permitted) {
    this.#options = options
    this.#variants = variants
    this.#permitted = permitted
    this.#read = createReader(options.choices.contract)
  }

  /** Compiles the contract under each alternative, which takes about a second. */
  static async begin(options: InvestigationOptions): Promise<Investigation> {
    const { choices } = options
    const reading = readings.get(choices) ?? Permitted.read(choices)
    readings.set(choices, reading)
    return new Investigation(options, await Variants.load(choices), await reading)
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
    const findings = findContractProblems(reading, this.#permitted)
    this.#isMalformed = findings.some(({ id }) => /\/response\/(?!headers)/.test(id))
    const { account, quota, figures } = this.#tracksOf(exchange.request.credentials)
    const add = (remarks: Remarks) => {
      findings.push(...remarks.findings)
      for (const { allows } of remarks.observations) this.#observe(allows, exchange)
    }
    add(quota.take(reading))
    add(figures.take(reading))
    const problems = await this.#judge(reading, account, (finding) => findings.push(finding))
    const presentation = observePresentation(reading, { problems, key: this.#keyOf(reading) }, this.#permitted)
    add(presentation)
    if (presentation.message !== undefined) this.#noteMessage(presentation.message)
    for (const finding of findings) this.#keep(finding)
    return findings
  }

  /** Says that exchanges were left out: what was known of the accounts may have changed. */
  forget(): void {
    for (const { account } of this.#tracks.values()) account.suspense.end()
    this.#tracks.clear()
  }

  /** What was found out so far; more can be taken afterwards. */
  conclude(): Conclusion {
    const findings = [...this.#findings.values()]
    const observations = new Observations()
    for (const each of this.#observations.all) observations.add(each)
    for (const { account } of this.#tracks.values()) for (const each of account.likely) observations.add(each)
    return {
      exchanges: this.#exchanges,
      judged: this.#judged,
      findings: findings.map(({ finding }) => finding),
      counts: Object.fromEntries(findings.map(({ finding, count }) => [finding.id, count])),
      observations: observations.all,
      messages: Object.fromEntries([...this.#messages].map(([kind, texts]) => [kind, [...texts]])),
    }
  }

  /** Resolves to the problems of which the service may have answered one; empty where that is not known. */
  async #judge(
    reading: Reading,
    track: AccountTrack,
    report: (finding: Finding) => void,
  ): Promise<readonly Problem<string>[]> {
    const { exchange, operation, outcome, response } = reading
    const { method, body } = exchange.request
    const mayChange = changesSomething(method)
    if (method === 'HEAD') {
      this.#judgeHead(reading)
      return []
    }
    const purpose = purposeOf(reading)
    const code = outcome.kind === 'refusal' ? outcome.code : undefined
    const isAnswer = outcome.kind !== 'unreadable' && response.status < 500 && code !== 'internal_error'
    if (!isAnswer || (!body.isKnown && operation?.readsBody === true)) {
      // Whether the change was made is not known.
      if (mayChange && (code === undefined || !isAnswer)) track.forget(purpose, operation?.id ?? '')
      return code === 'internal_error' ? [{ code }] : []
    }
    const early = earlyProblems(reading)
    if (early.length > 0) return early
    const isExact = formOf(exchange.request.credentials) === 'exact'
    const isAdmitted = this.#judgeGate(reading, track, report)
    if (code === 'rate_limited') return [{ code }]
    if (!isAdmitted) {
      if (mayChange && track.wasAdmitted && isExact) await this.#judgeCap(reading, purpose, track)
      return problemsOfKey(exchange.request.credentials, mayChange)
    }
    this.#judged++
    return this.#judgeBehaviour(reading, purpose, track, report)
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
      () =>
        this.#observeAll(
          allows.map((each) => this.#orSwitchedOff(each, reading)),
          exchange,
        ),
      () => {},
    )
  }

  /** Beside these combinations all under which a key that was switched off for a while is answered with this status. */
  #orSwitchedOff(allows: readonly Assignment[], { response: { status } }: Reading): Assignment[] {
    const rows = this.#permitted.answersTo({ code: 'unauthorized' })?.rows ?? []
    let all: Assignment[] = [{}]
    for (const id of Object.keys(allows[0] ?? {})) {
      all = all.flatMap((each) => this.#variants.numbersOf(id).map((number) => ({ ...each, [id]: number })))
    }
    return all.flatMap((each) => {
      const isAllowed = allows.some((some) => Object.entries(some).every(([id, number]) => each[id] === number))
      const possible = rows.filter(({ answer }) => isAllowed || answer.status === status)
      return possible.map(({ assignment }) => ({ ...each, ...assignment }))
    })
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
          'The request had no valid key, and was answered nevertheless.',
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
  ): Promise<readonly Problem<string>[]> {
    const { exchange, operation, outcome, response } = reading
    const { isSoleWriter = false, isOwnName = () => false } = this.#options
    const now = serviceTime(response.headers['date']) ?? exchange.until
    const relying = hypothesesFor(reading, purpose, track.knowledge, { onAll: !exchange.overlaps, isOwn: isOwnName })
    const facts = isSoleWriter ? new Set<string>() : relying.facts
    const known = await this.#explain(reading, purpose, relying.worlds, now)
    const isSuccess = outcome.kind === 'success'
    let explanation = known
    let problems = known.problems
    if (known.isExplained && operation?.id === 'deleteDomains') await this.#judgeFreedom(reading, purpose, track, now)
    if (facts.size === 0) {
      this.#observeAll(known.allows, exchange)
      if (known.isExplained) this.#reportDeviations(reading, known, report)
    } else {
      const open = hypothesesFor(reading, purpose, track.knowledge, { onAll: false, isOwn: isOwnName })
      const anyhow = await this.#explain(reading, purpose, open.worlds, now)
      this.#observeAll(anyhow.allows, exchange)
      problems = anyhow.problems
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
    if (!explanation.isExplained && !this.#isMalformed) report(this.#breach(reading, purpose, track, known))
    if (!isSuccess) return problems
    if (isSoleWriter && changesSomething(exchange.request.method)) this.#forgetOthers(track)
    if (exchange.overlaps || !known.isExplained) {
      if (changesSomething(exchange.request.method)) track.forget(purpose, operation?.id ?? '')
      if (exchange.overlaps) return []
    }
    if (operation !== undefined && isListing(operation.id, outcome.data)) this.#compareList(reading, track, now, report)
    else track.learn(reading, purpose, known.isExplained ? known : undefined, now)
    return []
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
    for (const [name, { account }] of this.#tracks) if (account !== track) this.#tracks.delete(name)
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

  #describeMismatch(reading: Reading, { message, since, rule: id }: Mismatch): Finding {
    const { operations } = this.#options.choices.contract
    const rule = operations.flatMap(({ rules }) => rules).find((each) => each.id === id)
    const by = `By ${since || 'an earlier response'}, it should be otherwise.`
    if (rule === undefined) return this.#finding(reading, 'unexplained', 'state', `${message} ${by}`)
    return this.#finding(
      reading,
      'broken rule',
      rule.id,
      `${rule.says} ${message}${since === '' ? '' : ` ${by}`}`,
      rule,
    )
  }

  #changedByAnother(reading: Reading, { expected }: Explanation): Finding {
    const message = `${describeExpected(expected)} Another client may have changed the account.`
    return this.#finding(reading, 'cannot tell', 'changed', message)
  }

  /** What no state of the account and no choice explains. */
  #breach(reading: Reading, purpose: Purpose, track: AccountTrack, { expected }: Explanation): Finding {
    const { outcome } = reading
    const would = describeExpected(expected)
    const rule = findBrokenRule(reading, purpose, track.knowledge, expected)
    if (rule !== undefined) return this.#finding(reading, 'broken rule', rule.id, `${rule.says} ${would}`, rule)
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
    const finding = findingOf(reading, this.#options.choices.contract, { label, what, message })
    if (rule === undefined || label !== 'broken rule') return finding
    const pointer = pointTo(`${rule.place}/x-rule`, rule.id)
    return { ...finding, rule: rule.id, pointer, line: this.#permitted.lineOf(pointer) }
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
    if (this.#observations.add({ allows, evidence: [id], count: 1 })) this.#decided.add(allows)
  }

  #noteMessage({ of, text }: { of: string; text: string }): void {
    const texts = this.#messages.get(of) ?? new Set()
    if (texts.size < MESSAGES_LIMIT) this.#messages.set(of, texts.add(text))
  }

  /** What is certain of the key of a request. */
  #keyOf({ exchange, outcome, operation }: Reading): 'valid' | 'invalid' | 'unknown' {
    const form = formOf(exchange.request.credentials)
    if (form === 'none' || form === 'wrong') return 'invalid'
    const isRefused = outcome.kind === 'unreadable' || (outcome.kind === 'refusal' && outcome.code === 'unauthorized')
    return form === 'unknown' || isRefused || operation === undefined ? 'unknown' : 'valid'
  }

  /** After a request that got no response, nobody knows what it has changed. */
  #forgetAfter(exchange: Exchange): void {
    if (!changesSomething(exchange.request.method)) return
    const reading = this.#read({
      ...exchange,
      response: { status: 0, headers: {}, body: { isKnown: false, reason: '' } },
    })
    if (reading !== undefined)
      this.#tracksOf(exchange.request.credentials).account.forget(purposeOf(reading), reading.operation?.id ?? '')
  }

  #tracksOf(credentials: Credentials): Tracks {
    const name = credentials.kind === 'sent' ? credentials.key : ''
    const known = this.#tracks.get(name)
    if (known !== undefined) return known
    if (this.#tracks.size >= TRACKS_LIMIT) this.#tracks.delete(this.#tracks.keys().next().value as string)
    const { isSoleWriter = false, isSoleClient = false, isOwnName = () => false } = this.#options
    const tracks = {
      account: new AccountTrack(this.#variants, isSoleWriter, isOwnName),
      quota: new QuotaTrack(this.#permitted, { isSoleClient }),
      figures: new FigureTrack(this.#permitted),
    }
    this.#tracks.set(name, tracks)
    return tracks
  }

  async #pause(): Promise<void> {
    if (this.#turns.isOver()) await this.#turns.next()
  }
}

function changesSomething(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}

/** Whether a request carries a key in the form of the specification, in another case, one that cannot be right, or none. */
function formOf(credentials: Credentials): 'exact' | 'any-case' | 'wrong' | 'none' | 'unknown' {
  if (credentials.kind !== 'sent') return credentials.kind
  const { scheme, isWord, isInvented = false } = credentials
  if (!isWord || isInvented) return 'wrong'
  if (scheme === 'Bearer') return 'exact'
  return scheme.toLowerCase() === 'bearer' ? 'any-case' : 'wrong'
}

/** In bytes. Some services refuse the header fields of a request from here on, most of them later. */
const LARGE_HEADER = 4096

/** Why a request may have been refused before anybody looked at what it asks; empty where it was looked at. */
function earlyProblems({ exchange, outcome, response }: Reading): Problem<string>[] {
  if (outcome.kind !== 'refusal') return []
  if (response.status === 408) return [{ code: 'invalid_request_body', reason: 'timeout' }]
  const { headers, target, body } = exchange.request
  const size = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, target.length)
  const isPossible = outcome.code === 'request_too_large' || outcome.code === 'invalid_request_body'
  if (size <= LARGE_HEADER || !isPossible) return []
  const isEmpty = body.isKnown && body.bytes.length === 0
  return [{ code: 'request_too_large', reason: 'large-header' }, ...(isEmpty ? [] : [{ code: outcome.code }])]
}

/** Why a key may have been refused. */
function problemsOfKey(credentials: Credentials, mayChange: boolean): Problem<string>[] {
  const form = formOf(credentials)
  if (form === 'none' || form === 'wrong') return [{ code: 'unauthorized' }]
  const reasons = ['plan', ...(mayChange ? ['domain-cap', 'group-cap', 'member-cap'] : [])]
  return [{ code: 'unauthorized' }, ...reasons.map((reason) => ({ code: 'unauthorized', reason }))]
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
