import { presentedSecretIn } from '../../behaviour/gate.ts'
import type { Problem } from '../../domain/errors.ts'
import type { Content } from '../../ground/content.ts'
import { writeJson } from '../../ground/json.ts'
import { memoize, memoizeWeakly } from '../../ground/memo.ts'
import { hashKey } from '../../ground/secrets.ts'
import { outline } from '../../ground/show.ts'
import { fieldOf, type RecordedBody } from '../entry.ts'
import { HIDDEN, isShaped } from './key-shapes.ts'
import {
  credentialsIn,
  credentialsInQuery,
  hideSecrets,
  type Redact,
  recordBody,
  redactHeader,
  redactTarget,
  redactWithin,
  secretsIn,
} from './redaction.ts'
import { Secrets } from './secrets.ts'

/** In bytes, the size from which the record of a body is kept for as long as the body, which may be sent again. */
const LONG = 500
/** The fields of a response that the service makes of nothing that a client sends. */
const OWN_FIELDS: ReadonlySet<string | number> = new Set([
  ...['Content-Length', 'Content-Type', 'Date', 'X-Request-Id'],
  ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
])
/** How many redactions are kept. */
const KEPT = 256

/** How many keys of accounts are known at most, the newest. A server may give any number of keys. */
const KNOWN = 1_000
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
  /** The header fields of the request as they are shown. */
  readonly headers: readonly string[]
  readonly #limit: number
  readonly #longest: number
  readonly #recordLong: (body: Content) => RecordedBody

  /** `credentials` are those that are not known to the server. */
  constructor({ headers, key }: Sender, known: Secrets, credentials: Secrets, limit: number) {
    const authorization = fieldOf(headers, 'authorization') ?? ''
    const own = new Set(secretsIn(authorization))
    const secret = presentedSecretIn(authorization)
    this.presented = secret === undefined ? undefined : hashKey(secret)
    const ownLabel = key === undefined ? HIDDEN : `${key}.${HIDDEN}`
    const labelOf = (found: string) => (own.has(found) ? ownLabel : HIDDEN)
    this.#limit = limit
    this.#longest = ESCAPED * Math.max(known.longest, credentials.longest, LONGEST_SHAPE)
    this.redact = (text, end) => hideSecrets(text, [known, credentials], labelOf, end)
    this.headers = this.#hideFields(headers)
    this.#recordLong = memoizeWeakly((body) => this.#record(body))
  }

  /** Hides the secrets in an immutable JSON value. */
  within<Value extends object>(value: Value): Value {
    return redactWithin(value, this.redact)
  }

  /** Hides the secrets in a body. */
  body(body: Content): RecordedBody {
    return body.size < LONG ? this.#record(body) : this.#recordLong(body)
  }

  #record(body: Content): RecordedBody {
    return recordBody(body, this.#limit, this.redact, this.#longest)
  }

  target(target: string): string {
    return redactTarget(target, this.redact)
  }

  /** Problems of a request with a body of so many bytes. Values from a body that is too long are shortened. */
  problems(problems: readonly Problem<string>[], bodySize: number): Problem<string>[] {
    return problems.map(({ code, reason, field, value, about }) => ({
      code,
      ...(reason !== undefined && { reason }),
      ...(field !== undefined && { field: this.redact(field) }),
      ...(value !== undefined && { value: this.#value(value, bodySize > this.#limit) }),
      ...(about !== undefined && { about: this.within(about) }),
    }))
  }

  /** An object of a long body is not written as JSON, because its nesting may be as deep as the body is long. */
  #value(value: unknown, isOfLong: boolean): unknown {
    if (typeof value === 'string') {
      if (!isOfLong || value.length <= VALUE) return this.redact(value)
      return `${this.redact(value.slice(0, VALUE + this.#longest), VALUE)}…`
    }
    if (typeof value !== 'object' || value === null) return value
    return isOfLong || writeJson(value) === undefined ? outline(value) : this.within(value)
  }

  /** The header fields of a response of the service. Those of a response that is foreign to it may all repeat anything. */
  responseHeaders(fields: readonly (string | number)[], isForeign = false): readonly (string | number)[] {
    const isOwn = fields.every((name, index) => index % 2 === 1 || OWN_FIELDS.has(name))
    return isOwn && !isForeign ? fields : this.#hideFields(fields)
  }

  #hideFields<Value extends string | number>(fields: readonly Value[]): (Value | string)[] {
    return fields.map((each, index) => {
      if (typeof each !== 'string') return each
      return index % 2 === 0 ? this.redact(each) : redactHeader(String(fields[index - 1]), each, this.redact)
    })
  }
}

/** How many times longer a text can be in escapes. */
const ESCAPED = 6
/** So many characters of a text that looks like a key tell that it is one. */
const LONGEST_SHAPE = 16

/** Gives the same redaction to requests with the same header fields and credentials. Most requests of a client have. */
export class RequestRedactions {
  readonly #known: Secrets
  /** Those of the known secrets that are keys of accounts, the oldest first. */
  readonly #learned = new Set<string>()
  readonly #limit: number
  readonly #kept = new Map<string, RequestRedaction>()
  readonly #secretsOf = memoize((credentials) => new Secrets(credentials.split('\n')), { limit: KEPT })

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
    const inQuery = credentialsInQuery(sender.target)
    const name = `${sender.key}\n${sender.headers.join('\n')}\n${inQuery.join('\n')}`
    let redaction = this.#kept.get(name)
    if (redaction === undefined) {
      const presented = [...credentialsIn(sender.headers), ...inQuery].filter((secret) => !this.#known.has(secret))
      redaction = new RequestRedaction(sender, this.#known, this.#secretsOf(presented.join('\n')), this.#limit)
      if (this.#kept.size >= KEPT) this.#kept.clear()
      this.#kept.set(name, redaction)
    }
    return redaction
  }
}
