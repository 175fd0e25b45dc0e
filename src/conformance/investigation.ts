import { type ChoiceObservation, Observations } from '../choices/observation.ts'
import { Permitted } from '../choices/permitted.ts'
import { Variants } from '../choices/variants.ts'
import type { Choices } from '../contract/choices.ts'
import type { Problem } from '../domain/errors.ts'
import type { Credentials, Exchange } from '../exchanges/exchange.ts'
import { formOf, problemsOfKey, validityOf } from '../exchanges/key-form.ts'
import { purposeOf } from '../exchanges/purpose.ts'
import { changesSomething, createReader, type ReadExchange } from '../exchanges/reading.ts'
import { Turns } from '../ground/turns.ts'
import type { JudgedDifference } from '../judge/finding.ts'
import { AccountTrack } from './account-track.ts'
import { judgeBehaviour } from './behaviour-judgement.ts'
import type { JudgementContext } from './context.ts'
import { findContractProblems } from './contract-problems.ts'
import type { ExchangeFindings } from './exchange-findings.ts'
import { FigureTrack } from './figures.ts'
import { earlyProblems, judgeCap, judgeGate, judgeHead } from './gate-judgement.ts'
import { observePresentation } from './presentation.ts'
import { QuotaTrack } from './quotas.ts'
import { RequestIdTrack } from './request-ids.ts'
import { InvestigationResults } from './results.ts'

export interface InvestigationOptions {
  choices: Choices
  /** Whether no other client changes the account during the investigation, so that what was seen stays true. */
  isSoleWriter?: boolean
  /** Whether no other client spends the quotas of its keys. */
  isSoleClient?: boolean
  /** Whether no other client would use a domain or group name like this. */
  isOwnName?(name: string): boolean
}

/** What was found so far. */
export interface Conclusion {
  /** All exchanges that were taken; `judged` counts those whose behaviour could be judged. */
  exchanges: number
  judged: number
  findings: readonly JudgedDifference[]
  /** How many findings each id has; `findings` has only the first one. */
  counts: Readonly<Record<string, number>>
  observations: readonly ChoiceObservation[]
  /** The texts of messages, by code or by `operationId` of a success. */
  messages: Readonly<Record<string, readonly string[]>>
}

/** How many keys are told apart. Beyond that, the knowledge about the oldest account is dropped. */
const TRACKS_LIMIT = 1_000
/** In milliseconds: how long a judgement runs before it yields, so that it does not delay the traffic of the proxy. */
const TURN = 1

/** What is kept for one key. */
interface Tracks {
  account: AccountTrack
  quota: QuotaTrack
  figures: FigureTrack
}

/**
 * Judges exchanges with one service, in the order in which they were sent. It is the only judgement: `check`, `proxy`,
 * `verify` and `calibrate` use it. For each exchange:
 *
 * 1. Read it: which operation, what was asked, what the envelope of the response says.
 * 2. Compare request and response with openapi.yaml, under our choices and under every alternative.
 * 3. Compare the response with earlier ones of the same key: request ids, quotas, daily figures.
 * 4. Judge the gate. A request without a valid key must be refused.
 * 5. Make the worlds: each state that the account may be in, by what earlier exchanges have shown.
 * 6. Ask the judge of the stand-in in each world, under each combination of alternatives that matters to the request.
 * 7. What leads to the response becomes an observation about the choices, and knowledge of the account.
 * 8. If nothing leads to it, but the specification leaves it open, it is another choice. Otherwise it is a failure.
 * 9. Compare statuses, header fields and formats with what each alternative gives to such a response.
 * 10. At the end, all observations together decide what is known of each choice.
 */
export class Investigation {
  readonly #isSoleClient: boolean
  readonly #context: JudgementContext
  readonly #results: InvestigationResults
  readonly #read: (exchange: Exchange) => ReadExchange | undefined
  readonly #tracks = new Map<string, Tracks>()
  readonly #requestIds: RequestIdTrack
  #exchanges = 0
  #judged = 0
  #turns = new Turns(TURN)

  private constructor(options: InvestigationOptions, variants: Variants, permitted: Permitted) {
    const { choices, isSoleWriter = false, isSoleClient = false, isOwnName = () => false } = options
    this.#isSoleClient = isSoleClient
    this.#results = new InvestigationResults(choices.contract, variants, permitted)
    this.#requestIds = new RequestIdTrack(permitted)
    const pause = () => (this.#turns.isOver() ? this.#turns.next() : undefined)
    this.#context = { variants, permitted, results: this.#results, isSoleWriter, isOwnName, pause }
    this.#read = createReader(choices.contract)
  }

  /** Compiles the contract under each alternative, which takes about half a second. */
  static async begin(options: InvestigationOptions): Promise<Investigation> {
    const { choices } = options
    return new Investigation(options, await Variants.load(choices), await Permitted.read(choices))
  }

  /**
   * Judges the next exchange; resolves to its own findings. It works in short turns, so that it does not block a server
   * in the same process. Calls must not overlap.
   */
  async take(exchange: Exchange): Promise<readonly JudgedDifference[]> {
    this.#exchanges++
    this.#turns = new Turns(TURN)
    const reading = this.#read(exchange)
    if (reading === undefined) {
      this.#forgetAfter(exchange)
      return []
    }
    const { permitted, pause } = this.#context
    const { account, quota, figures } = this.#tracksOf(exchange.request.credentials)
    const findings = findContractProblems(reading, permitted)
    const isMalformed = findings.some(violatesForm)
    const add = (shown: ExchangeFindings) => {
      findings.push(...shown.findings)
      for (const { allows } of shown.observations) this.#results.observe(allows, exchange)
    }
    await pause()
    for (const track of [this.#requestIds, quota, figures]) add(track.take(reading))
    const problems = await this.#judge(reading, account, isMalformed, (finding) => findings.push(finding))
    await pause()
    const circumstances = { problems, key: validityOf(reading) }
    const presentation = observePresentation(reading, circumstances, permitted, this.#results.fixed)
    add(presentation)
    if (presentation.message !== undefined) this.#results.noteMessage(presentation.message)
    for (const finding of findings) this.#results.keep(finding)
    return findings
  }

  /** Must be called if exchanges were left out: they may have changed the accounts. */
  forget(): void {
    for (const { account } of this.#tracks.values()) account.pending.end()
    this.#tracks.clear()
  }

  /** How many exchanges had a behaviour that could be judged. */
  get judged(): number {
    return this.#judged
  }

  /** What was found so far; more exchanges can be taken afterwards. */
  conclude(): Conclusion {
    const { findings, messages } = this.#results
    const observations = new Observations()
    for (const each of this.#results.observations.all) observations.add(each)
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

  /** Resolves to the problems that the service may have reported; empty if they are not known. */
  async #judge(
    reading: ReadExchange,
    track: AccountTrack,
    isMalformed: boolean,
    report: (finding: JudgedDifference) => void,
  ): Promise<readonly Problem<string>[]> {
    const { exchange, operation, outcome } = reading
    const context = this.#context
    const { method, body } = exchange.request
    const mayChange = changesSomething(method)
    if (method === 'HEAD') {
      judgeHead(context, reading)
      return []
    }
    const purpose = purposeOf(reading)
    const code = outcome.kind === 'refusal' ? outcome.code : undefined
    const isAnswer = outcome.kind !== 'unreadable' && reading.failed === undefined
    if (!isAnswer || (!body.isKnown && operation?.readsBody === true)) {
      // It is not known whether the service made the change.
      if (mayChange && (code === undefined || !isAnswer)) track.forget(purpose, operation)
      return code === 'internal_error' ? [{ code }] : []
    }
    const early = earlyProblems(reading)
    if (early.length > 0) return early
    const isExact = formOf(exchange.request.credentials) === 'exact'
    const isAdmitted = judgeGate(context, reading, track, report)
    if (code === 'rate_limited') return [{ code }]
    if (!isAdmitted) {
      if (mayChange && track.wasAdmitted && isExact) await judgeCap(context, reading, purpose, track)
      return problemsOfKey(exchange.request.credentials, mayChange)
    }
    this.#judged++
    const problems = await judgeBehaviour(context, { reading, purpose, track, isMalformed, report })
    if (outcome.kind === 'success' && mayChange && context.isSoleWriter) this.#forgetOthers(track)
    return problems
  }

  /** Two keys may belong to one account, so a change with one key may make the knowledge about the other wrong. */
  #forgetOthers(track: AccountTrack): void {
    for (const [name, { account }] of this.#tracks) if (account !== track) this.#tracks.delete(name)
  }

  /** Forgets what a request without a response may have changed. */
  #forgetAfter(exchange: Exchange): void {
    if (!changesSomething(exchange.request.method)) return
    const reading = this.#read({
      ...exchange,
      response: { status: 0, headers: {}, body: { isKnown: false, reason: '' } },
    })
    if (reading !== undefined)
      this.#tracksOf(exchange.request.credentials).account.forget(purposeOf(reading), reading.operation)
  }

  #tracksOf(credentials: Credentials): Tracks {
    const name = credentials.kind === 'sent' ? credentials.key : ''
    const known = this.#tracks.get(name)
    if (known !== undefined) return known
    if (this.#tracks.size >= TRACKS_LIMIT) this.#tracks.delete(this.#tracks.keys().next().value as string)
    const { variants, permitted, isSoleWriter, isOwnName } = this.#context
    const tracks = {
      account: new AccountTrack(variants, isSoleWriter, isOwnName),
      quota: new QuotaTrack(permitted, { isSoleClient: this.#isSoleClient }),
      figures: new FigureTrack(permitted),
    }
    this.#tracks.set(name, tracks)
    return tracks
  }
}

/** Whether a finding says that the body of the response breaks the contract, so that its content need not make sense. */
function violatesForm({ id, label }: JudgedDifference): boolean {
  return label === 'contract violation' && /\/response\/(?!headers)/.test(id)
}
