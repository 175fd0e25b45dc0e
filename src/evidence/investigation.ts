import type { Choices } from '../contract/choices.ts'
import type { Problem } from '../domain/errors.ts'
import { Turns } from '../ground/turns.ts'
import { AccountTrack } from './account-track.ts'
import { judgeBehaviour } from './behaviour-judgement.ts'
import { findContractProblems } from './contract-problems.ts'
import type { Credentials, Exchange } from './exchange.ts'
import { FigureTrack } from './figures.ts'
import type { Finding } from './finding.ts'
import { earlyProblems, judgeCap, judgeGate, judgeHead } from './gate-judgement.ts'
import { Gathered } from './gathered.ts'
import { formOf, problemsOfKey, validityOf } from './key-form.ts'
import type { Means } from './means.ts'
import { type Observation, Observations } from './observation.ts'
import { Permitted } from './permitted.ts'
import { observePresentation } from './presentation.ts'
import { purposeOf } from './purpose.ts'
import { QuotaTrack } from './quotas.ts'
import { changesSomething, createReader, type Reading } from './reading.ts'
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

/**
 * Judges exchanges with one service, in the order in which they were sent, and learns from each what the account holds.
 * All that judge exchanges ask it: there is no second judgement.
 */
export class Investigation {
  readonly #isSoleClient: boolean
  readonly #means: Means
  readonly #gathered: Gathered
  readonly #read: (exchange: Exchange) => Reading | undefined
  readonly #tracks = new Map<string, Tracks>()
  #exchanges = 0
  #judged = 0
  #turns = new Turns(TURN)

  private constructor(options: InvestigationOptions, variants: Variants, permitted: Permitted) {
    const { choices, isSoleWriter = false, isSoleClient = false, isOwnName = () => false } = options
    this.#isSoleClient = isSoleClient
    this.#gathered = new Gathered(choices.contract, variants, permitted)
    const pause = () => (this.#turns.isOver() ? this.#turns.next() : undefined)
    this.#means = { variants, permitted, gathered: this.#gathered, isSoleWriter, isOwnName, pause }
    this.#read = createReader(choices.contract)
  }

  /** Compiles the contract under each alternative, which takes about a second. */
  static async begin(options: InvestigationOptions): Promise<Investigation> {
    const { choices } = options
    return new Investigation(options, await Variants.load(choices), await Permitted.read(choices))
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
    const { permitted, pause } = this.#means
    const findings = findContractProblems(reading, permitted)
    const isMalformed = findings.some(({ id }) => /\/response\/(?!headers)/.test(id))
    const { account, quota, figures } = this.#tracksOf(exchange.request.credentials)
    const add = (remarks: Remarks) => {
      findings.push(...remarks.findings)
      for (const { allows } of remarks.observations) this.#gathered.observe(allows, exchange)
    }
    await pause()
    add(quota.take(reading))
    add(figures.take(reading))
    const problems = await this.#judge(reading, account, isMalformed, (finding) => findings.push(finding))
    await pause()
    const presentation = observePresentation(reading, { problems, key: validityOf(reading) }, permitted)
    add(presentation)
    if (presentation.message !== undefined) this.#gathered.noteMessage(presentation.message)
    for (const finding of findings) this.#gathered.keep(finding)
    return findings
  }

  /** Says that exchanges were left out: what was known of the accounts may have changed. */
  forget(): void {
    for (const { account } of this.#tracks.values()) account.suspense.end()
    this.#tracks.clear()
  }

  /** What was found out so far; more can be taken afterwards. */
  conclude(): Conclusion {
    const { findings, messages } = this.#gathered
    const observations = new Observations()
    for (const each of this.#gathered.observations.all) observations.add(each)
    for (const { account } of this.#tracks.values()) for (const each of account.likely) observations.add(each)
    return {
      exchanges: this.#exchanges,
      judged: this.#judged,
      findings: findings.map(({ finding }) => finding),
      counts: Object.fromEntries(findings.map(({ finding, count }) => [finding.id, count])),
      observations: observations.all,
      messages,
    }
  }

  /** Resolves to the problems of which the service may have answered one; empty where that is not known. */
  async #judge(
    reading: Reading,
    track: AccountTrack,
    isMalformed: boolean,
    report: (finding: Finding) => void,
  ): Promise<readonly Problem<string>[]> {
    const { exchange, operation, outcome, response } = reading
    const means = this.#means
    const { method, body } = exchange.request
    const mayChange = changesSomething(method)
    if (method === 'HEAD') {
      judgeHead(means, reading)
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
    const isAdmitted = judgeGate(means, reading, track, report)
    if (code === 'rate_limited') return [{ code }]
    if (!isAdmitted) {
      if (mayChange && track.wasAdmitted && isExact) await judgeCap(means, reading, purpose, track)
      return problemsOfKey(exchange.request.credentials, mayChange)
    }
    this.#judged++
    const problems = await judgeBehaviour(means, { reading, purpose, track, isMalformed, report })
    if (outcome.kind === 'success' && mayChange && means.isSoleWriter) this.#forgetOthers(track)
    return problems
  }

  /** Two keys may belong to one account, so what was changed with one may be what is known of the other. */
  #forgetOthers(track: AccountTrack): void {
    for (const [name, { account }] of this.#tracks) if (account !== track) this.#tracks.delete(name)
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
    const { variants, permitted, isSoleWriter, isOwnName } = this.#means
    const tracks = {
      account: new AccountTrack(variants, isSoleWriter, isOwnName),
      quota: new QuotaTrack(permitted, { isSoleClient: this.#isSoleClient }),
      figures: new FigureTrack(permitted),
    }
    this.#tracks.set(name, tracks)
    return tracks
  }
}
