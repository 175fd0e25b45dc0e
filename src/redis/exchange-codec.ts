import { createHash } from 'node:crypto'
import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { DomainGroup } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import { isObject, writeJson } from '../ground/json.ts'
import { FirstResults } from '../ground/memo.ts'
import { outline } from '../ground/show.ts'
import { bytesOf, type Content, isCut, textOf } from '../http/content.ts'
import { type Entry, type InjectionRecord, type KeyEvidence, NO_KEY } from '../journal/entry.ts'
import type { NewEntry } from '../journal/journal.ts'
import { HIDDEN } from '../journal/redaction/key-shapes.ts'
import { type Redact, redactField, redactTarget, redactWithin } from '../journal/redaction/redaction.ts'
import { StoreError, type StoreProblem } from '../store/store-error.ts'

/**
 * An exchange in the form that all replicas read: JSON with short names, because thousands are kept. All client input
 * in it is without secrets. It does not name the account, because the account may end before the exchange arrives.
 */
interface CodedExchange {
  r: [id: string, at: number, duration: number, method: string, target: string]
  /** The path, if the target does not begin with it. */
  t?: string | undefined
  /** Names and values of the header fields. */
  h: readonly string[]
  b?: CodedBody | undefined
  /** Id of the operation. */
  o?: string | undefined
  /** Id of the key. */
  k?: string | undefined
  a?: Entry['allowance']
  s?: number | undefined
  c?: string | undefined
  p?: readonly StoredProblem[]
  /** The distinct values of problems. The value of many problems is the whole body. */
  pv?: readonly unknown[]
  /** Whether the request violates the contract. */
  v?: 1 | undefined
  d?: Entry['decided']
  rh: Entry['responseHeaders']
  rb?: CodedBody | undefined
  /** The violations of the response, if there are any. */
  rv?: Entry['violations'] | undefined
  i?: (Pick<InjectionRecord, 'source' | 'rule'> & Partial<InjectionRecord>) | undefined
  /** Present if the response comes from an injection. */
  j?: 1 | undefined
  e?: KeyEvidence | undefined
  m?: Entry['moment']
  g?: DomainGroup | undefined
  f?: StoredFailure | undefined
}

/** A body: its text, the text of its beginning, or its bytes in base64, and its size in bytes if it differs. */
type CodedBody = string | [kind: 'text' | 'cut' | 'bytes', held: string, size: number]

/** A problem with the place of its value in a list, instead of the value. */
type StoredProblem = Omit<Problem<string>, 'value'> & { at?: number }

/** An error as text, with the problem if the store has failed. */
type StoredFailure = { text: string; message?: string; problem?: StoreProblem }

/** Up to this size, all members of a group are kept. Of a larger group, only those that explain the request are. */
const MEMBERS = 50

/**
 * The JSON of the parts that are the same objects in many exchanges: the bodies of responses and the groups as long as the
 * data is the same, and the header fields of similar requests. To write them anew would take half of the time.
 */
const [headerTexts, responseTexts, groupTexts] = [
  new FirstResults<string>(),
  new FirstResults<string>(),
  new FirstResults<string>(),
]

/** The text of an exchange. `body` is the JSON value of the request, if it has one. */
export function encodeExchange(entry: NewEntry, body: unknown, contract: Contract, redact: Redact): string {
  const { headers, problems, violations, injection, group, failure, keyEvidence, moment, responseBody } = entry
  const target = redactTarget(entry.target, redact)
  const path = redact(entry.path)
  // JSON leaves out what is undefined.
  const stored: Omit<CodedExchange, 'h'> = {
    r: [entry.requestId, entry.at, entry.duration, redact(entry.method), target],
    t: path === pathIn(target) ? undefined : path,
    rh: redactHeaders(entry.responseHeaders, redact),
    b: entry.body && encodeBody(entry.body, redact),
    o: entry.operation?.id,
    k: entry.key,
    a: entry.allowance,
    s: entry.status,
    c: entry.code,
    ...(problems.length > 0 && encodeProblems(problems, redact)),
    v: entry.violatesContract ? 1 : undefined,
    d: entry.decided,
    rv: violations.length > 0 ? redactWithin(violations, redact) : undefined,
    i: injection && redactInjection(injection, redact),
    j: entry.injected ? 1 : undefined,
    e: keyEvidence === NO_KEY ? undefined : keyEvidence,
    m: moment && { incarnation: moment.incarnation, version: moment.version, sequence: moment.sequence },
    f: failure === undefined ? undefined : redactWithin(describeFailure(failure), redact),
  }
  const others = [
    `"h":${headerTexts.get(headers, [redact], () => JSON.stringify(redactHeaders(headers, redact)))}`,
    ...(responseBody === undefined
      ? []
      : [`"rb":${responseTexts.get(responseBody, [redact], () => JSON.stringify(encodeBody(responseBody, redact)))}`]),
    ...(group === undefined ? [] : [`"g":${writeGroup(group, body, contract, redact)}`]),
  ]
  return `${JSON.stringify(stored).slice(0, -1)},${others.join(',')}}`
}

function writeGroup(group: DomainGroup, body: unknown, contract: Contract, redact: Redact): string {
  const write = () => JSON.stringify(redactWithin(shortenGroup(group, body, contract), redact))
  // Which members of a larger group are written depends on the request.
  return group.domains.length > MEMBERS ? write() : groupTexts.get(group, [redact], write)
}

/** The data about an exchange that only the store knows. */
type KnownByStore = Pick<Entry, 'ordinal' | 'account'>

/** The exchange in a text, with the data that only the store knows. @throws SyntaxError if the text contains none */
function decodeExchange(
  text: string,
  { ordinal, account }: KnownByStore,
  operations: ReadonlyMap<string, Operation>,
): Entry {
  const stored = JSON.parse(text) as CodedExchange
  const [requestId, at, duration, method, target] = stored.r
  return {
    ordinal,
    requestId,
    account,
    // After the end of an account, its key belongs to no account.
    key: account === undefined ? undefined : stored.k,
    at,
    method,
    target,
    path: stored.t ?? pathIn(target),
    headers: stored.h,
    body: stored.b === undefined ? undefined : decodeBody(stored.b),
    operation: stored.o === undefined ? undefined : operations.get(stored.o),
    allowance: stored.a,
    status: stored.s,
    code: stored.c,
    problems: stored.p?.map((problem) => decodeProblem(problem, stored.pv ?? [])) ?? NO_PROBLEMS,
    violatesContract: stored.v === 1,
    decided: stored.d && { status: stored.d.status, code: stored.d.code },
    responseHeaders: stored.rh,
    responseBody: stored.rb === undefined ? undefined : decodeBody(stored.rb),
    violations: stored.rv ?? NO_VIOLATIONS,
    injection: stored.i && { ...NO_INJECTION, ...stored.i },
    injected: stored.j === 1,
    keyEvidence: stored.e ?? NO_KEY,
    group: stored.g,
    before: undefined,
    after: undefined,
    moment: account === undefined ? undefined : stored.m,
    duration,
    weight: 0,
    failure: stored.f && restoreFailure(stored.f),
  }
}

/** In bytes, what an entry needs beside its text, which it has twice when it was read. */
const ENTRY = 1_000

/** The parts that are read from the text when somebody asks for one of them. */
const LAZY = [
  ...['key', 'at', 'method', 'target', 'path', 'headers', 'body', 'operation', 'allowance', 'status', 'code'],
  ...['problems', 'violatesContract', 'decided', 'responseHeaders', 'responseBody', 'violations', 'injection'],
  ...['injected', 'keyEvidence', 'group', 'moment', 'duration', 'failure'],
] as const

/** An exchange of the store as an entry. Most entries are never read, so their texts are not decoded. */
class StoredEntry {
  readonly isLazy = true
  readonly account: string | undefined
  readonly requestId: string
  readonly weight: number
  readonly before = undefined
  readonly after = undefined
  readonly recorded: number
  /** The place in the journal, which is known later, see `Order`. */
  ordinal: number
  readonly #text: string
  readonly #operations: ReadonlyMap<string, Operation>
  #parts: Entry | undefined

  constructor(text: string, { recorded, account }: Recorded, operations: ReadonlyMap<string, Operation>) {
    this.recorded = recorded
    this.ordinal = recorded
    this.account = account
    this.#text = text
    this.#operations = operations
    this.weight = ENTRY + 2 * text.length
    this.requestId = /^\{"r":\["([^"\\]*)"/.exec(text)?.[1] ?? this.parts.requestId
  }

  get parts(): Entry {
    const { ordinal, account } = this
    this.#parts ??= decodeExchange(this.#text, { ordinal, account }, this.#operations)
    return this.#parts
  }
}

for (const name of LAZY) {
  Object.defineProperty(StoredEntry.prototype, name, {
    get(this: StoredEntry) {
      return this.parts[name as keyof Entry]
    },
  })
}

/** The ordinal that the store has given, and the account. */
type Recorded = { recorded: number } & Pick<Entry, 'account'>

/** The same as `decodeExchange`, but the text is decoded when it is needed. */
export function openExchange(text: string, known: Recorded, operations: ReadonlyMap<string, Operation>): Entry {
  return new StoredEntry(text, known, operations) as unknown as Entry
}

const NO_PROBLEMS: Entry['problems'] = []
const NO_VIOLATIONS: Entry['violations'] = []
const NO_INJECTION = { id: undefined, effect: undefined }

/** A short stand-in for a text: different texts have different stand-ins. */
export function digestOf(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\0')
  return hash.digest('base64url').slice(0, 22)
}

function pathIn(target: string): string {
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}

function redactHeaders<Value extends string | number>(fields: readonly Value[], redact: Redact): (string | Value)[] {
  return fields.map((field, index) => {
    if (typeof field === 'number') return field
    if (index % 2 === 0) return redact(field)
    const name = String(fields[index - 1])
    return name.toLowerCase() === 'authorization' ? redactKey(name, field, redact) : redactField(name, field, redact)
  })
}

/** Redacts the key in the header, but keeps the errors in its form visible, see `describeCredentials`. */
function redactKey(name: string, value: string, redact: Redact): string {
  const [, scheme = '', gap = '', secret = ''] = /^(\S*)(\s*)(.*)$/s.exec(value) ?? []
  if (value === '') return value
  if (secret === '') return /^bearer$/i.test(scheme) ? value : HIDDEN
  const shown = redactField(name, `${scheme} ${secret.replaceAll(/\s+/g, ' ')}`, redact)
  const hidden = shown.slice(shown.indexOf(' ') + 1)
  const isPlaceholder = /[${}<>]/.test(secret) || /^your/i.test(secret)
  const formed = isPlaceholder ? `<${hidden}>` : /\s/.test(secret) ? `${hidden} ${hidden}` : hidden
  return `${redact(scheme)}${gap}${formed}`
}

function redactInjection({ source, id, rule, effect }: InjectionRecord, redact: Redact): InjectionRecord {
  return { source, rule: redactWithin(rule, redact), id, effect: effect && redact(effect) }
}

function encodeProblems(problems: readonly Problem<string>[], redact: Redact): Pick<CodedExchange, 'p' | 'pv'> {
  const places = new Map<unknown, number>()
  const p = problems.map(({ code, reason, field, value, about }): StoredProblem => {
    if (value !== undefined && !places.has(value)) places.set(value, places.size)
    const at = places.get(value)
    return {
      code,
      ...(reason !== undefined && { reason }),
      ...(field !== undefined && { field: redact(field) }),
      ...(about !== undefined && { about: redactWithin(about, redact) }),
      ...(at !== undefined && { at }),
    }
  })
  return { p, ...(places.size > 0 && { pv: [...places.keys()].map((value) => redactValue(value, redact)) }) }
}

function decodeProblem({ at, ...problem }: StoredProblem, values: readonly unknown[]): Problem<string> {
  return at === undefined ? problem : { ...problem, value: values[at] }
}

/** A value that is nested too deeply to be written has the same form everywhere. */
function redactValue(value: unknown, redact: Redact): unknown {
  if (writeJson(value) === undefined) return redact(outline(value))
  try {
    return redactWithin(value, redact)
  } catch (error) {
    if (error instanceof RangeError) return redact(outline(value))
    throw error
  }
}

function encodeBody(body: Content, redact: Redact): CodedBody {
  const { held, size } = body
  const text = textOf(body)
  // The ellipsis shows that a secret may begin at the end.
  const shown = isCut(body) ? redact(`${text}…`).slice(0, -1) : redact(text)
  const isText = typeof held === 'string' || shown !== text || bytesOf({ held: text, size }).equals(held)
  if (!isText) return ['bytes', held.toString('base64'), size]
  if (isCut(body)) return ['cut', shown, size]
  return Buffer.byteLength(shown) === size ? shown : ['text', shown, size]
}

function decodeBody(stored: CodedBody): Content {
  if (typeof stored === 'string') return { held: stored, size: Buffer.byteLength(stored) }
  const [kind, held, size] = stored
  if (kind === 'text') return { held, size }
  if (kind === 'bytes') return { held: Buffer.from(held, 'base64'), size }
  // The replacements of secrets may be longer than the secrets, but the beginning must be shorter than the whole.
  return { held: Buffer.from(held).subarray(0, Math.max(0, size - 1)), size }
}

/** The part of a group that the rules of the contract need. */
function shortenGroup(group: DomainGroup, body: unknown, contract: Contract): DomainGroup {
  const { domains } = group
  if (domains.length <= MEMBERS) return group
  const removed = isObject(body) && Array.isArray(body['remove_domains']) ? body['remove_domains'] : []
  const named = new Set(
    removed.map((name) => (typeof name === 'string' ? contract.canonicalHostname(name) : undefined)),
  )
  return { ...group, domains: domains.filter((domain, index) => index === 0 || named.has(domain)) }
}

function describeFailure(failure: unknown): StoredFailure {
  if (!(failure instanceof Error)) return { text: String(failure) }
  const { stack, message } = failure
  const text = stack ?? String(failure)
  return failure instanceof StoreError ? { text, message, problem: failure.problem } : { text }
}

function restoreFailure({ text, message, problem }: StoredFailure): unknown {
  if (problem === undefined) return text
  return Object.assign(new StoreError(problem, message ?? ''), { stack: text })
}
