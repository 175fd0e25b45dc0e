import { presentedSecretIn } from '../../behaviour/gate.ts'
import type { Problem } from '../../domain/errors.ts'
import { writeJson } from '../../ground/json.ts'
import { memoizeWeakly } from '../../ground/memo.ts'
import type { Content } from '../../ground/message.ts'
import { hashKey } from '../../ground/secrets.ts'
import { outline } from '../../ground/show.ts'
import { fieldOf, type RecordedBody } from '../entry.ts'
import {
  findCredentials,
  hideSecrets,
  MARGIN,
  type Redact,
  recordBody,
  redactField,
  redactTarget,
  redactWithin,
  secretsIn,
} from './redaction.ts'
import { HIDDEN, isShaped, Secrets } from './secrets.ts'

/** In bytes, the size from which the record of a body is kept for as long as the body, which may be sent again. */
const LONG = 500
/** The fields of a response that the service makes of nothing that a client sends. */
const OWN_FIELDS: ReadonlySet<string | number> = new Set([
  ...['Content-Length', 'Content-Type', 'Date', 'X-Request-Id'],
  ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
])
/** How many redactions are kept: one for each key that clients use at the time. */
const KEPT = 256

/** How many keys of accounts are known at most, the newest. A search for many more takes longer than a request. */
const KNOWN = 300
/** The number of characters that are kept of a value from a body that is too long. */
const VALUE = 500

/** What tells which secrets a request has. */
interface Sender {
  headers: readonly string[]
  target: string
  /** The id of the key. */
  key?: string | undefined
}

/** Hides the secrets of a server, and those that a request presents, in all parts of an exchange. */
export class RequestRedaction {
  readonly redact: Redact
  /** The hash of the key that the request presents. */
  readonly presented: string | undefined
  readonly #limit: number
  readonly #recordLong: (body: Content) => RecordedBody
  /** Hides the secrets in an object that is kept for as long as it is in an account. */
  readonly withinKept: <Value extends object>(value: Value) => Value
  /** By their number: the last header fields, and how they are shown. Most come again at the same place. */
  readonly #seen = new Map<number, { fields: readonly string[]; shown: readonly string[] }>()

  /** `credentials` are those that are not known to the server. */
  constructor({ headers, key }: Sender, known: Secrets, credentials: Secrets, limit: number) {
    const authorization = fieldOf(headers, 'authorization') ?? ''
    const own = new Set(secretsIn(authorization))
    const secret = presentedSecretIn(authorization)
    this.presented = secret === undefined ? undefined : hashKey(secret)
    const ownLabel = key === undefined ? HIDDEN : `${key}.${HIDDEN}`
    const labelOf = (found: string) => (own.has(found) ? ownLabel : HIDDEN)
    this.#limit = limit
    this.redact = (text, end) => hideSecrets(text, [known, credentials], labelOf, end)
    this.#recordLong = memoizeWeakly((body) => this.#record(body))
    this.withinKept = memoizeWeakly((value) => this.within(value)) as RequestRedaction['withinKept']
  }

  /** Hides the secrets in an immutable JSON value. */
  within<Value>(value: Value): Value {
    return redactWithin(value, this.redact)
  }

  /** Hides the secrets in a body. */
  body(body: Content): RecordedBody {
    return body.size < LONG ? this.#record(body) : this.#recordLong(body)
  }

  #record(body: Content): RecordedBody {
    return recordBody(body, this.#limit, this.redact)
  }

  target(target: string): string {
    return redactTarget(target, this.redact)
  }

  /** Problems of a request with a body of so many bytes. Values from a body that is too long are shortened. */
  problems(problems: readonly Problem<string>[], bodySize: number): Problem<string>[] {
    return problems.map(({ value, ...problem }) => ({
      ...this.within(problem),
      ...(value !== undefined && { value: this.#value(value, bodySize > this.#limit) }),
    }))
  }

  /** An object of a long body is not written as JSON, because its nesting may be as deep as the body is long. */
  #value(value: unknown, isOfLong: boolean): unknown {
    if (typeof value === 'string') {
      if (!isOfLong || value.length <= VALUE) return this.redact(value)
      return `${this.redact(value.slice(0, VALUE + MARGIN), VALUE)}…`
    }
    if (typeof value !== 'object' || value === null) return value
    return isOfLong || writeJson(value) === undefined ? outline(value) : this.within(value)
  }

  /** The header fields of a request. */
  headers(fields: readonly string[]): readonly string[] {
    const last = this.#seen.get(fields.length)
    const shown = fields.map((each, index) => {
      const before = index % 2 === 0 ? index : index - 1
      const isKnown = last?.fields[index] === each && last.fields[before] === fields[before]
      return (isKnown ? last.shown[index] : undefined) ?? this.#hideField(fields, index)
    })
    this.#seen.set(fields.length, { fields, shown })
    return shown
  }

  /** The header fields of a response of the service. Those of a response that is foreign to it may all repeat anything. */
  responseHeaders(fields: readonly (string | number)[], isForeign = false): readonly (string | number)[] {
    const isOwn = fields.every((name, index) => index % 2 === 1 || OWN_FIELDS.has(name))
    if (isOwn && !isForeign) return fields
    return fields.map((each, index) => (typeof each === 'string' ? this.#hideField(fields, index) : each))
  }

  #hideField(fields: readonly (string | number)[], index: number): string {
    const text = String(fields[index])
    return index % 2 === 0 ? this.redact(text) : redactField(String(fields[index - 1]), text, this.redact)
  }
}

/** Gives the same redaction to requests with the same secrets. */
export class RequestRedactions {
  readonly #known: Secrets
  /** Those of the known secrets that are keys of accounts, the oldest first. */
  readonly #learned = new Set<string>()
  readonly #limit: number
  readonly #kept = new Map<string, RequestRedaction>()

  /** `limit` is the number of bytes that are kept of each body. */
  constructor(known: Secrets, limit: number) {
    this.#known = known
    this.#limit = limit
  }

  /** Hides these keys of accounts from now on, in the requests of every account. Those with the usual form are known. */
  learn(keys: readonly string[]): void {
    for (const key of keys) {
      if (isShaped(key) || this.#known.has(key)) continue
      this.#known.add(key)
      this.#learned.add(key)
      this.#kept.clear()
      const [oldest = ''] = this.#learned
      if (this.#learned.size <= KNOWN) continue
      this.#learned.delete(oldest)
      this.#known.delete(oldest)
    }
  }

  of(sender: Sender): RequestRedaction {
    const { headers, target, key } = sender
    const presented = findCredentials(headers, target)
    const name = [key, fieldOf(headers, 'authorization'), ...presented].join('\n')
    let redaction = this.#kept.get(name)
    if (redaction === undefined) {
      const credentials = new Secrets(presented.filter((secret) => !this.#known.has(secret)))
      redaction = new RequestRedaction(sender, this.#known, credentials, this.#limit)
      if (this.#kept.size >= KEPT) this.#kept.clear()
      this.#kept.set(name, redaction)
    }
    return redaction
  }
}
