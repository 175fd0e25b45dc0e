import { inspect } from 'node:util'
import type { ServiceContract } from '../behaviour/operation.ts'
import { operationOf } from '../contract/api.ts'
import type { Schemas } from '../contract/control-plane.ts'
import { composeCurl, type ServerUrls } from '../coverage/curl.ts'
import type { AccountState } from '../domain/account.ts'
import type { Fixture } from '../domain/fixture.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { readJson, valueAt } from '../ground/json.ts'
import { plural, printable } from '../ground/show.ts'
import { splitTarget } from '../ground/target.ts'
import { type Entry, fieldOf, textOf } from '../journal/entry.ts'
import { type Redact, redactWithin, withoutBrackets } from '../journal/redaction/redaction.ts'
import { HIDDEN } from '../journal/redaction/secrets.ts'

export interface ReproductionSource {
  /** The present account. */
  account: AccountState
  contract: ServiceContract
  urls: ServerUrls
  /** Hides the secrets of the server in what the state of the account says. The entry has no secrets. */
  redact: Redact
  /** A key of the account that is not secret, if it has one. */
  publicKey: string | undefined
  /** The account just before the request; absent if it is not kept or not needed. */
  past: { state: AccountState | undefined }
  /** Writes an account in the form of a fixture. */
  writeState(state: AccountState): Fixture
}

/** The most domains, and the most groups, of an account that the code sets up as it was. */
const SMALL = 30
/** The header fields that can change the outcome, besides the key. Clients add the other fields by themselves. */
const DECISIVE = ['content-type', 'content-encoding', 'prefer']

/** Code that sends a request again and expects the same outcome. */
export function reproduce(
  entry: Entry,
  source: ReproductionSource,
): Pick<Schemas['Explanation'], 'reproduction' | 'reproduction_note'> {
  const sent = requestOf(entry)
  const why = whyNot(entry, sent)
  if (why !== undefined) return { reproduction: null, reproduction_note: why }
  const { account, missing } = setUpFor(entry, source)
  const { document } = source.contract
  const remarks = [
    missing,
    document.isChanged ? 'The server that answered has overlays. The same ones are needed here.' : '',
    JSON.stringify([entry.target, sent]).includes(HIDDEN) ? 'A secret in the request is hidden.' : '',
  ].filter((remark) => remark !== '')
  const curl = composeCurl({
    method: sent.method,
    url: new URL(source.urls.baseUrl).origin + sent.path,
    key: { secret: source.publicKey },
    fields: sent.fields.map(([name, value]) => `${name}: ${value}`),
    body: sent.body,
  })
  const vitest = writeVitest(entry, sent, account, remarks, source.contract)
  return { reproduction: { curl, vitest }, reproduction_note: remarks.length === 0 ? null : remarks.join(' ') }
}

interface SentRequest {
  method: string
  /** From the root of the host, with the query. */
  path: string
  fields: readonly (readonly [name: string, value: string])[]
  body: string | undefined
}

function requestOf({ method, target, headers, body }: Entry): SentRequest {
  const { path, query } = splitTarget(target)
  return {
    method,
    path: withoutBrackets(query === undefined ? path : `${path}?${query}`),
    fields: DECISIVE.flatMap((name) => {
      const value = fieldOf(headers, name)
      return value === undefined ? [] : [[name, value] as const]
    }),
    body: method === 'GET' || method === 'HEAD' || body?.size === 0 ? undefined : body?.text,
  }
}

/** The reason in one sentence why no code can send a request again; `undefined` if some can. */
function whyNot(entry: Entry, { method, path }: SentRequest): string | undefined {
  const { account, body, failure, status, code, injected, injection, problems, keyEvidence } = entry
  const reason = problems[0]?.reason ?? ''
  const hasNoKey = keyEvidence.ordinal === 0 || keyEvidence.disabled
  const url = `http://localhost${path}`
  const isPlain = URL.canParse(url) && new URL(url).href === url && !['CONNECT', 'TRACE', 'TRACK'].includes(method)
  const reasons: readonly (readonly [holds: boolean, why: string])[] = [
    // Every account and every key meets an unknown path or method.
    [
      account === undefined && !['path', 'method'].includes(reason),
      'The request belongs to no account, so there is none to set up.',
    ],
    [
      (code === 'unauthorized' && hasNoKey) || ['host', 'malformed'].includes(reason),
      'The request was refused because of a header field, which the code would not repeat.',
    ],
    [
      body?.isCut === true || reason === 'bytes',
      'The journal keeps only the beginning of the body, so the request cannot be sent again.',
    ],
    [body?.base64 !== undefined, 'The body is no UTF-8, so code cannot show it.'],
    [
      failure !== undefined || status === undefined,
      'The service gave no answer of its own that the same request would bring about again.',
    ],
    [injected && injection?.source === 'rule', 'A fault rule made the response. The code would need the same rule.'],
    [!isPlain, 'No usual client sends this method or this target as it was.'],
  ]
  return reasons.find(([holds]) => holds)?.[1]
}

interface SetUp {
  /** The body of POST /accounts. The library takes the same object. */
  account: { fixture: string | object; plan?: string; seed?: number; now: string; frozen: true }
  /** What the request found and the set-up lacks, in one sentence. */
  missing: string
}

/** An account in which the request has the same outcome, as far as it is known. */
function setUpFor(entry: Entry, { past: { state }, account, redact, writeState }: ReproductionSource): SetUp {
  const clock = { now: writeInstant(entry.at), frozen: true as const }
  // A request that the contract always forbids needs no state.
  if (entry.violatesContract) return { account: { fixture: 'empty', ...clock }, missing: '' }
  if (state !== undefined && state.domains.size <= SMALL && state.groups.size <= SMALL) {
    const { domains, groups } = redactWithin(writeState(state), redact)
    return { account: { fixture: { domains, groups }, plan: state.plan, seed: state.seed, ...clock }, missing: '' }
  }
  const { origin, plan, seed } = account
  const fixture = typeof origin.fixture === 'string' ? origin.fixture : 'empty'
  const was =
    state === undefined
      ? 'What the account was before this request is no longer kept'
      : `The account had ${plural(state.domains.size, 'domain')} and ${plural(state.groups.size, 'group')}`
  const missing = `${was}, so this account is as a new one, of the fixture ${fixture}.`
  return { account: { fixture, plan, seed, ...clock }, missing }
}

/** A file for vitest that sets the account up, sends the request, and expects the same status and code. */
function writeVitest(
  entry: Entry,
  { method, path, fields, body }: SentRequest,
  account: SetUp['account'],
  remarks: readonly string[],
  contract: ServiceContract,
): string {
  const { status, code = '', injected, problems } = entry
  const bucket = operationOf(contract, entry.operation)?.path.slice(1)
  const isLimited = !injected && problems[0]?.code === 'rate_limited'
  const title = `${entry.operation ?? `${method} ${entry.path}`} answers ${status} ${code}`.trim()
  const headers = ['...account.headers', ...fields.map(([name, value]) => `${literal(name)}: ${literal(value)}`)]
  const expected = expectedBody(entry)
  return [
    "import { createTest } from 'dmarc-understudy/vitest'",
    "import { expect } from 'vitest'",
    '',
    ...remarks.map((remark) => `// ${remark}`),
    `const test = createTest().extend({ accountOptions: ${literal(account)} })`,
    '',
    `test(${literal(title)}, async ({ account }) => {`,
    ...(isLimited ? [`  await account.quotas.set(${literal(bucket)}, 0)`] : []),
    `  const response = await fetch(new URL(${literal(path)}, account.baseUrl), {`,
    `    method: ${literal(method)},`,
    `    headers: { ${headers.join(', ')} },`,
    ...(body === undefined ? [] : [`    body: ${literal(body)},`]),
    '  })',
    `  expect(response.status).toBe(${status})`,
    ...(expected === undefined ? [] : [`  expect(await response.json()).toMatchObject(${literal(expected)})`]),
    '})',
    '',
  ].join('\n')
}

function expectedBody({ method, responseBody }: Entry): object | undefined {
  const body = method === 'HEAD' || responseBody === undefined ? undefined : readJson(textOf(responseBody))
  const code = valueAt(body, '/error/code')
  if (typeof code === 'string') return { success: false, error: { code } }
  return valueAt(body, '/success') === true ? { success: true } : undefined
}

/** A value of JSON as source text. What Node.js prints of one is a literal, also of a field `__proto__`. */
function literal(value: unknown): string {
  const whole = { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: 100 }
  const lines = inspect(JSON.parse(JSON.stringify(value)), whole).split('\n')
  return lines.map(printable).join('\n')
}
