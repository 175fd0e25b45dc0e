import { decodeBody } from '../exchanges/content-coding.ts'
import { type Exchange, unknownBody } from '../exchanges/exchange.ts'
import type { RecordedExchange } from '../exchanges/har/entry-writer.ts'
import { Keys, readFields, redactBody } from '../exchanges/keys.ts'
import { changesSomething } from '../exchanges/reading.ts'
import { splitTarget } from '../ground/target.ts'
import { type Redact, redactTarget } from '../journal/redaction/redaction.ts'
import type { JudgedDifference } from '../judge/finding.ts'
import type { Judge } from '../judge/judge.ts'
import type { ProxyTarget } from './target.ts'
import type { PassedExchange, PassedMessage } from './traffic.ts'

/** An exchange that was passed on, in the forms that its readers need, and what was found in it. */
export interface Sighting {
  /** For the judge, without keys. */
  exchange: Exchange
  /** For the recording, which removes the keys itself. */
  recorded: RecordedExchange
  /** Whether the target is below the base URL of the service. */
  isOfService: boolean
  findings: readonly JudgedDifference[]
  /** Whether its behaviour could be judged. */
  isJudged: boolean
}

export interface WitnessOptions {
  target: ProxyTarget
  /** The base path of the contract. */
  basePath: string
  judge: Pick<Judge, 'take' | 'forget' | 'judged' | 'conclude'>
  /** Records the exchange, if the user asked for a recording. It must not throw. */
  record?: ((exchange: RecordedExchange) => void) | undefined
  /** Adds each exchange to the journal, after its judgement if there is one. */
  note?: ((sighting: Sighting, passed: PassedExchange) => void) | undefined
  found(finding: JudgedDifference): void
  /** Something here threw an error, because of a bug. */
  failed(error: unknown): void
}

/** How many characters of an X-Request-Id are used. */
const ID_LIMIT = 200

/** Reads, records and judges what was passed on, in the order of its end, when the client has got its response. */
export class Witness {
  readonly keys = new Keys()
  readonly #options: WitnessOptions
  /** Whether an exchange was not judged since the last one that was. */
  #isGap = false
  /** Counts of the traffic. `foreign` paths are not below the base URL of the service; `failures` met a bug. */
  readonly sightings = { exchanges: 0, foreign: 0, redirects: 0, failures: 0 }

  constructor(options: WitnessOptions) {
    this.#options = options
  }

  take(passed: PassedExchange): void {
    this.sightings.exchanges++
    const { record, note, found, failed } = this.#options
    try {
      const sighting = readSighting(passed, this.keys, this.#options)
      record?.(sighting.recorded)
      try {
        this.#judge(sighting)
      } finally {
        note?.(sighting, passed)
      }
      sighting.findings.forEach(found)
    } catch (error) {
      this.sightings.failures++
      this.#isGap = true
      failed(error)
    }
  }

  #judge(sighting: Sighting): void {
    const { judge } = this.#options
    const { exchange, isOfService } = sighting
    const { status = 0 } = exchange.response ?? {}
    if (status >= 300 && status < 400 && status !== 304) this.sightings.redirects++
    if (!isOfService) {
      this.sightings.foreign++
      // The request may be outside of the contract, and then it is not known what it changed.
      if (changesSomething(exchange.request.method)) this.#isGap = true
      return
    }
    if (this.#isGap) judge.forget()
    this.#isGap = false
    const before = judge.judged
    sighting.findings = judge.take(exchange)
    sighting.isJudged = judge.judged > before
  }
}

/** Makes a copy of an exchange without content codings, and releases its memory. `basePath` is that of the contract. */
function readSighting(
  passed: PassedExchange,
  keys: Keys,
  { target, basePath }: Pick<WitnessOptions, 'target' | 'basePath'>,
): Sighting {
  const { at, started, overlaps, request, response } = passed
  const { method } = request
  const credentials = keys.credentialsOf(request.fields)
  const redact = keys.redactorFor({ target: request.target, fields: [...request.fields, ...(response?.fields ?? [])] })
  const sent = copyOf(request, redact)
  const received = response && copyOf(response, redact)
  const { path, query } = splitTarget(request.target)
  const isOfService = path === target.basePath || path.startsWith(`${target.basePath}/`)
  const below = isOfService ? basePath + path.slice(target.basePath.length) : path
  const shown = redactTarget(query === undefined ? below : `${below}?${query}`, redact)
  const until = at + (passed.ended - started)
  const id = redact((received?.seen.headers['x-request-id'] ?? '').slice(0, ID_LIMIT)) || `request ${passed.ordinal}`
  const origin = `${target.isSecure ? 'https' : 'http'}://${target.authority}`
  return {
    exchange: {
      ...{ id, at, until, overlaps },
      request: { method, target: shown, credentials, ...sent.seen },
      response: response && received && { status: response.status, ...received.seen },
    },
    recorded: {
      ...{ at, until, credentials, redact, problem: passed.broken },
      answeredAt: passed.answered === undefined ? undefined : at + (passed.answered - started),
      // The target of `OPTIONS *` is the service itself.
      url: origin + (request.target === '*' ? '' : request.target),
      request: { method, ...sent.recorded },
      response: response && received && { status: response.status, statusText: response.reason, ...received.recorded },
    },
    ...{ isOfService, findings: [], isJudged: false },
  }
}

/** What is seen and recorded of a message. */
function copyOf({ httpVersion, fields, body }: PassedMessage, redact: Redact) {
  const { bytes, size: sentSize, missing } = body
  const codings = fields.filter(([name]) => /^content-encoding$/i.test(name)).map(([, value]) => value)
  const decoded = missing === undefined ? decodeBody(bytes, codings.join()) : unknownBody(missing)
  const kept = decoded.isKnown ? decoded.bytes : Buffer.alloc(0)
  // No other code uses the kept bytes, so they need not be copied.
  body.release()
  return {
    seen: { headers: readFields(fields, redact), body: redactBody(decoded, redact) },
    recorded: { httpVersion, fields, body: { bytes: kept, size: decoded.isKnown ? kept.length : sentSize, sentSize } },
  }
}
