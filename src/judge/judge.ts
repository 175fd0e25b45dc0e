import type { Assumption } from '../contract/assumptions.ts'
import type { Choices } from '../contract/choices.ts'
import { type Widest, widestOf } from '../contract/widest.ts'
import type { Exchange } from '../exchanges/exchange.ts'
import { changesSomething, createReader, type ReadExchange } from '../exchanges/reading.ts'
import { isObject } from '../ground/json.ts'
import { redactKeys } from '../journal/redaction/secrets.ts'
import { AnswerCounts } from './answer-counts.ts'
import { doubtWhatIsNamed, judgeRefusal, judgeSuccess } from './behaviour.ts'
import { Belief } from './belief.ts'
import { ChoiceReader } from './choice-reader.ts'
import { checkContract } from './contract-check.ts'
import type { JudgedDifference, KeptFinding } from './finding.ts'
import { collectFindings, describeChoice, idOf, KeptFindings, type Report } from './findings.ts'
import { ANSWERED_WITHOUT_KEY, isAnsweredWithoutKey, isKeyless, isOfGate, isRefusedUnread, keyRuleOf } from './gate.ts'
import type { ChoiceObservation } from './open-choice.ts'
import { type QuotaFields, readQuotaFields } from './quota-fields.ts'
import { AskedRequest } from './request.ts'
import { RequestIdTrack } from './request-ids.ts'
import { type AccountTerms, type Track, Tracks } from './tracks.ts'
import { UnansweredWrites } from './unanswered-writes.ts'

export interface JudgeOptions extends AccountTerms {
  choices: Choices
}

/** What was found so far. */
export interface Conclusion {
  /** All exchanges that were taken; `judged` counts those whose behaviour could be judged. */
  exchanges: number
  judged: number
  findings: readonly KeptFinding[]
  /** What the exchanges show about choices. */
  observations: readonly ChoiceObservation[]
  /** The texts of messages, by code or by `operationId` of a success. */
  messages: Readonly<Record<string, readonly string[]>>
  /** How the service answered, and what of that shows nothing. */
  answers: AnswerCounts
}

/** How many texts of messages are kept for each code or operation. */
const MESSAGES = 5
/** A service can invent any number of codes. */
const MESSAGE_KINDS = 100
const OVERLAP = 'Another request that may change the account was in progress, so it is not known what came first.'

/**
 * Judges exchanges with one service, in the order in which they were sent. It is the only judgement: `check`, `proxy`,
 * `verify` and `calibrate` use it. For each exchange:
 *
 * 1. Read it: which operation, what was asked, what the envelope of the response says.
 * 2. Compare request and response with openapi.yaml, in which each open part is any of its alternatives.
 * 3. Compare the response with earlier ones of the same key: request ids, quotas, daily figures.
 * 4. Judge the gate. A request without a valid key must be refused.
 * 5. Make the corridor of the request, from what is believed of the account: what every service refuses, and what some
 *    service may refuse. A success of the former is a failure, and so is a refusal that is in neither.
 * 6. Compare what is certain of a success, and learn from it what the account holds.
 *
 * What another client can have caused is `cannot tell`, unless no other client changes the account.
 */
export class Judge {
  readonly #widest: Widest
  readonly #read: (exchange: Exchange) => ReadExchange
  readonly #tracks: Tracks
  /** With all keys, because two keys may belong to one account. */
  readonly #unanswered = new UnansweredWrites()
  readonly #requestIds = new RequestIdTrack()
  readonly #kept = new KeptFindings()
  readonly #choices: ChoiceReader
  readonly #assumptions: ReadonlyMap<string, Assumption>
  readonly #messages = new Map<string, Set<string>>()
  /** How the service has answered until now. */
  readonly answers = new AnswerCounts()
  #exchanges = 0
  #judged = 0

  constructor({ choices, ...terms }: JudgeOptions) {
    this.#widest = widestOf(choices.contract)
    this.#choices = new ChoiceReader(choices)
    this.#assumptions = new Map(choices.assumptions.map((each) => [each.id, each]))
    this.#read = createReader(choices.contract)
    this.#tracks = new Tracks(terms)
  }

  /** Judges the next exchange. Returns its own findings; a choice only the first time that the operation shows it. */
  take(exchange: Exchange): readonly JudgedDifference[] {
    this.#exchanges++
    const reading = this.#read(exchange)
    this.answers.note(reading)
    const track = this.#tracks.of(exchange.request.credentials)
    const asked = new AskedRequest(reading, (id) => track.belief.groupsLike(id))
    const { findings, report } = collectFindings(reading, this.#widest.contract)
    if (exchange.response !== undefined) {
      checkContract(reading, asked, this.#widest, report)
      const quota = readQuotaFields(reading)
      this.#follow(reading, quota, track, report)
      for (const { id, permits } of this.#choices.read({ reading, asked, quota, track })) {
        const [number = 0] = permits
        const assumption = this.#assumptions.get(id)
        if (permits.length > 1 || number === 0 || assumption === undefined) continue
        // Services show a choice all the time.
        if (this.#kept.isRepeated(idOf('decides assumption', reading, `${id}/${number}`))) continue
        findings.push(describeChoice(number, assumption, reading, this.#widest.contract))
      }
    }
    this.#judge(reading, asked, track, report)
    this.#unanswered.doubt(track.belief, exchange.at)
    for (const finding of findings) {
      this.#kept.keep(finding)
      this.answers.noteFinding(finding)
    }
    return findings
  }

  /** Must be called if exchanges were left out: they may have changed the accounts. */
  forget(): void {
    this.#tracks.forget()
  }

  /** How many exchanges had a behaviour that could be judged. */
  get judged(): number {
    return this.#judged
  }

  /** What was found so far; more exchanges can be taken afterwards. */
  conclude(): Conclusion {
    return {
      exchanges: this.#exchanges,
      judged: this.#judged,
      findings: this.#kept.findings,
      observations: this.#choices.observations,
      messages: Object.fromEntries([...this.#messages].map(([of, texts]) => [of, [...texts]])),
      answers: this.answers,
    }
  }

  /** Compares a response with earlier ones. */
  #follow(reading: ReadExchange, fields: QuotaFields | undefined, track: Track, report: Report): void {
    this.#requestIds.take(reading, report)
    if (fields !== undefined) track.quota.take(reading, fields, report)
    track.figures.take(reading, report)
    track.scheme.take(reading)
    track.charges.take(reading, fields)
    const message = messageOf(reading)
    if (message === undefined) return
    const texts = this.#messages.get(message.of) ?? new Set()
    if (texts.has(message.text) || (this.#messages.size >= MESSAGE_KINDS && texts.size === 0)) return
    if (texts.size < MESSAGES) this.#messages.set(message.of, texts.add(redactKeys(message.text)))
  }

  /** Judges the behaviour, as far as it is known what was asked and answered. */
  #judge(reading: ReadExchange, asked: AskedRequest, track: Track, report: Report): void {
    const { exchange, operation, outcome, failed, response } = reading
    const { method } = exchange.request
    const mayChange = changesSomething(method)
    if (method === 'HEAD') return
    const isDone = outcome.kind === 'success' && response.status < 300
    const code =
      outcome.kind === 'refusal' && this.#widest.contract.catalogue.has(outcome.code) ? outcome.code : undefined
    if (mayChange && code === undefined) this.#tracks.noteChange(track)
    if (failed !== undefined || (!isDone && code === undefined)) {
      if (mayChange) doubtWhatIsNamed(asked, track.belief)
      const isAnswered = exchange.response !== undefined && failed === undefined
      if (mayChange && !isAnswered) this.#unanswered.note(asked, exchange.until)
      return
    }
    if (operation === undefined || asked.body === 'unknown') {
      // It is not known what the request asks; a refusal may have been of a part.
      if (mayChange && !isOfGate(code) && (asked.call !== '' || code === undefined)) track.belief.forget()
      return
    }
    if (isRefusedUnread(reading)) return
    if (isAnsweredWithoutKey(reading, asked)) {
      report({ rule: keyRuleOf(operation)?.id, what: 'key', message: ANSWERED_WITHOUT_KEY })
      return
    }
    if (isKeyless(exchange) || isOfGate(code)) return
    this.#judged++
    const { overlaps } = exchange
    if (overlaps && mayChange) doubtWhatIsNamed(asked, track.belief)
    if (overlaps && isDone) report({ label: 'cannot tell', what: 'overlap', message: OVERLAP })
    // Of requests at the same time, nobody knows which was handled first.
    const belief = overlaps ? new Belief(track.belief) : track.belief
    const source = { by: exchange.id, at: reading.sentAt ?? exchange.until }
    const data = outcome.kind === 'success' ? outcome.data : undefined
    const admitted = { asked, data, belief, source, report }
    if (code === undefined) judgeSuccess(admitted)
    else judgeRefusal(admitted, code)
  }
}

function messageOf({ outcome, operation }: ReadExchange): { of: string; text: string } | undefined {
  if (outcome.kind === 'refusal') return { of: outcome.code, text: outcome.message }
  if (outcome.kind !== 'success' || operation === undefined || !isObject(outcome.data)) return undefined
  const text = outcome.data['message']
  return typeof text === 'string' ? { of: operation.id, text } : undefined
}
