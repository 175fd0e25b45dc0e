import { presentedSecretIn } from '../../behaviour/gate.ts'
import type { Problem } from '../../domain/errors.ts'
import type { Content } from '../../ground/content.ts'
import { writeJson } from '../../ground/json.ts'
import { memoize, memoizeWeakly } from '../../ground/memo.ts'
import { hashKey } from '../../ground/secrets.ts'
import { outline } from '../../ground/show.ts'
import { fieldOf, type RecordedBody } from '../entry.ts'
import { HIDDEN, hasKeyForm } from './key-shapes.ts'
import {
  credentialsIn,
  credentialsInQuery,
  hideSecrets,
  isCredential,
  type Redact,
  recordBody,
  redactHeader,
  redactTarget,
  redactWithin,
  secretsIn,
} from './redaction.ts'
import { Secrets } from './secrets.ts'

/** How many texts of up to how many characters each redaction remembers. Similar requests repeat most of their texts. */
const REMEMBERED = { limit: 200, longest: 200 }
/** How many redactions are kept: one for each key that clients use at the time. */
const KEPT = 256

/** How many keys of accounts are known at most, the newest. A server may give any number of keys. */
const KNOWN = 10_000
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
  /** Hides the secrets in an immutable JSON value, such as a fault rule. It is copied once. */
  readonly within: <Value extends object>(value: Value) => Value
  /** Hides the secrets in a body. A body that is sent repeatedly is recorded once. */
  readonly body: (body: Content) => RecordedBody
  readonly #limit: number
  readonly #longest: number
  readonly #asked: ShownFields<string>
  readonly #answered: ShownFields<string | number>

  constructor(known: Secrets, { headers, key }: Sender, credentials: readonly string[], limit: number) {
    const presented = new Secrets(credentials)
    const authorization = fieldOf(headers, 'authorization') ?? ''
    const own = new Set(secretsIn(authorization))
    const secret = presentedSecretIn(authorization)
    this.presented = secret === undefined ? undefined : hashKey(secret)
    const ownLabel = key === undefined ? HIDDEN : `${key}.${HIDDEN}`
    const labelOf = (found: string) => (own.has(found) ? ownLabel : HIDDEN)
    const hide: Redact = (text, end) => hideSecrets(text, [known, presented], labelOf, end)
    const remember = memoize(hide, REMEMBERED)
    this.#limit = limit
    this.#longest = ESCAPED * Math.max(known.longest, presented.longest, LONGEST_SHAPE)
    this.redact = (text, end) => (end === undefined ? remember(text) : hide(text, end))
    this.#asked = new ShownFields(hide)
    this.#answered = new ShownFields(hide)
    this.within = memoizeWeakly((value: object) => redactWithin(value, this.redact)) as typeof this.within
    this.body = memoizeWeakly((body) => recordBody(body, limit, this.redact, this.#longest))
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

  /** The header fields of a request. */
  headers(fields: readonly string[]): readonly string[] {
    return this.#asked.show(fields)
  }

  /** The header fields of a response. */
  responseHeaders(fields: readonly (string | number)[]): readonly (string | number)[] {
    return this.#answered.show(fields)
  }

  /** Whether these header fields have the same names as the last ones, and the same credentials. */
  hasSameSecrets(fields: readonly string[]): boolean {
    return this.#asked.hasSameSecrets(fields)
  }
}

/** Header fields without secrets. Most messages have those of the message before, or nearly so. */
class ShownFields<Value extends string | number> {
  readonly #redact: Redact
  #last: readonly Value[] = []
  #shown: readonly (Value | string)[] = []

  constructor(redact: Redact) {
    this.#redact = redact
  }

  hasSameSecrets(fields: readonly Value[]): boolean {
    const last = this.#last
    if (fields.length !== last.length) return false
    for (let index = 0; index < fields.length; index += 2) {
      if (fields[index] !== last[index]) return false
      if (fields[index + 1] !== last[index + 1] && isCredential(String(fields[index]))) return false
    }
    return true
  }

  show(fields: readonly Value[]): readonly (Value | string)[] {
    const last = this.#last
    if (fields.length === last.length && fields.every((each, index) => each === last[index])) return this.#shown
    // What is the same at the same place is shown in the same way.
    const shown: (Value | string)[] = fields.length === last.length ? this.#shown.slice() : []
    for (let index = 0; index < fields.length; index += 2) {
      const [name, value] = [fields[index], fields[index + 1]] as [Value, Value]
      if (fields.length === last.length && name === last[index] && value === last[index + 1]) continue
      shown[index] = redactHeader(name, this.#redact)
      shown[index + 1] = redactHeader(value, this.#redact, name)
    }
    this.#last = fields
    this.#shown = shown
    return shown
  }
}

/** How many times longer a text can be in escapes. */
const ESCAPED = 6
/** So many characters of a text that looks like a key tell that it is one. */
const LONGEST_SHAPE = 16

/** Gives the same redaction to requests with the same secrets. */
export class RequestRedactions {
  readonly #known: Secrets
  /** Those of the known secrets that are keys of accounts, the oldest first. */
  readonly #learned = new Set<string>()
  readonly #limit: number
  readonly #kept = new Map<string, RequestRedaction>()
  /** The redaction of the last request with each key. */
  readonly #last = new Map<string | undefined, RequestRedaction>()

  /** `limit` is the number of bytes that are kept of each body. */
  constructor(known: Secrets, limit: number) {
    this.#known = known
    this.#limit = limit
  }

  /** Hides these keys of accounts from now on, in the requests of every account. Those with the usual form are known. */
  learn(keys: readonly string[]): void {
    for (const key of keys) {
      if (hasKeyForm(key) || this.#known.has(key)) continue
      this.#known.add(key)
      this.#learned.add(key)
      this.#forget()
      const [oldest = ''] = this.#learned
      if (this.#learned.size <= KNOWN) continue
      this.#learned.delete(oldest)
      this.#known.delete(oldest)
    }
  }

  of(sender: Sender): RequestRedaction {
    const { headers, target, key } = sender
    const inQuery = credentialsInQuery(target)
    const last = inQuery.length === 0 ? this.#last.get(key) : undefined
    if (last?.hasSameSecrets(headers)) return last
    const credentials = [...credentialsIn(headers), ...inQuery]
    const name = [key, fieldOf(headers, 'authorization'), ...credentials].join('\n')
    let redaction = this.#kept.get(name)
    if (redaction === undefined) {
      redaction = new RequestRedaction(this.#known, sender, credentials, this.#limit)
      if (this.#kept.size >= KEPT) this.#forget()
      this.#kept.set(name, redaction)
    }
    if (inQuery.length === 0) this.#last.set(key, redaction)
    return redaction
  }

  #forget(): void {
    this.#kept.clear()
    this.#last.clear()
  }
}
