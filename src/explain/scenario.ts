import { isUtf8 } from 'node:buffer'
import type { ServiceContract } from '../behaviour/operation.ts'
import type { AccountState } from '../domain/account.ts'
import type { FaultRule } from '../domain/faults.ts'
import type { Fixture } from '../domain/fixture.ts'
import { isNestedBeyond, isObject, readJson, valueAt } from '../ground/json.ts'
import { bytesOf, isCut, textOf } from '../http/content.ts'
import { splitTarget } from '../http/target.ts'
import { isUnread } from '../journal/description.ts'
import type { Entry } from '../journal/entry.ts'
import { HIDDEN } from '../journal/key-shapes.ts'
import { type Redact, redactField, redactQuery, redactWithin, withoutBrackets } from '../journal/redaction.ts'
import { fieldOf } from './changes.ts'
import { type SetUp, setUpFor } from './set-up.ts'

/** A body that is sent: JSON that is written again as it was, a text, or other bytes. */
type SentBody =
  | { kind: 'json'; value: unknown; text: string }
  | { kind: 'text'; text: string }
  | { kind: 'bytes'; bytes: Buffer }

/** What is to be expected of the body of a response. */
export type ExpectedBody =
  | { kind: 'any' }
  | { kind: 'success' }
  /** `field` is what the journal says about the first problem. */
  | { kind: 'refusal'; code: string; field: string | undefined }
  /** With a new id of a group where `hasNewId`. */
  | { kind: 'json'; value: unknown; hasNewId: boolean }
  | { kind: 'text'; text: string }

/** What is to be expected: a response; or none, or an incomplete one, at once or never. */
export type Expectation =
  | { kind: 'response'; status: number; body: ExpectedBody }
  | { kind: 'failure'; isEndless: boolean }

/** A request as somebody can send it again, with all that it needs, and what is to be expected then. */
export interface Scenario {
  /** The operation, or method and path, and what it answers: `addDomains answers 400 invalid_domain`. */
  title: string
  /** Sentences on what is otherwise than it was. */
  remarks: readonly string[]
  setUp: SetUp['account']
  /** Whether the request has a key that is disabled. */
  hasDisabledKey: boolean
  /** The bucket of the quota that is used up. */
  usedUp: string | undefined
  rule: FaultRule | undefined
  request: {
    method: string
    /** Begins with a slash. */
    path: string
    /** Whether `path` is below the base URL of the service, and not of its host. */
    isBelowBase: boolean
    headers: Readonly<Record<string, string>>
    body: SentBody | undefined
  }
  expected: Expectation
}

/** What a scenario is made from, beside its request. */
export interface ScenarioSource {
  /** What the account was before the request, in maps that nobody else has; absent where that is not kept. */
  state: AccountState | undefined
  /** What the account is now. */
  present: AccountState
  contract: ServiceContract
  redact: Redact
  writeState(state: AccountState): Fixture
}

/** The fields of a request that can change its outcome, beside its key. Clients send the others by themselves. */
const DECISIVE = ['content-type', 'content-encoding', 'prefer']
/** What is sent in place of a body that nobody has read. */
const SUBSTITUTE: SentBody = { kind: 'json', value: {}, text: '{}' }
const UNREAD = 'The service did not read the body, so the journal does not have it, and an empty object stands for it.'
/** How deeply a body may be nested that is written as a literal; Python reads no more than a hundred levels. */
const DEEPEST = 20
/** For how long a response is dripped, in milliseconds. */
const DRIP = 200

/** The scenario of a request; or why there is none, in one sentence. */
export function scenarioOf(
  entry: Entry,
  source: ScenarioSource,
): { ok: true; scenario: Scenario } | { ok: false; why: string } {
  const { account, body, failure, status, injected, target } = entry
  const no = (why: string) => ({ ok: false as const, why })
  if (account === undefined) return no('The request belongs to no account, so there is none to set up.')
  const isUnknown = body !== undefined && isUnread(body)
  if (body !== undefined && isCut(body) && (!isUnknown || entry.problems[0]?.reason === 'bytes')) {
    return no('The journal keeps only the beginning of the body, so the request cannot be sent again.')
  }
  if (failure !== undefined) return no('The stand-in itself failed, which the same request does not bring about again.')
  if (status === undefined && !injected)
    return no('The client left before a response was sent, so none can be expected.')
  const { path } = splitTarget(target)
  if (!path.startsWith('/')) return no('The target of the request is no path.')
  const { contract, redact } = source
  const {
    account: setUp,
    isExact,
    missing,
  } = setUpFor(entry, source.state, source.present, contract, source.writeState)
  const rule = ruleOf(entry, redact)
  const request = requestOf(entry, contract, redact)
  // One look at the whole is much faster than one at each of the thousand names that it may have.
  const wholeSetUp = JSON.stringify(setUp)
  const isHiddenInSetUp = redact(wholeSetUp) !== wholeSetUp
  const remarks = [
    missing,
    ...(contract.document.validated ? [] : ['The server that answered has overlays. The same ones are needed here.']),
    isUnknown && request.body !== undefined ? UNREAD : undefined,
    hasHidden(request) ? 'A secret in the request is hidden.' : undefined,
    isHiddenInSetUp ? 'A secret in the account is hidden.' : undefined,
    isDelayed(entry) ? 'The delay of the fault is left out.' : undefined,
  ].filter((each) => each !== undefined)
  const expected = expectationOf(entry, isExact && !isHiddenInSetUp, redact)
  return {
    ok: true,
    scenario: {
      title: titleOf(entry, redact),
      remarks,
      setUp: isHiddenInSetUp ? redactWithin(setUp, redact) : setUp,
      hasDisabledKey: entry.keyEvidence.disabled,
      usedUp: usedUpBy(entry),
      rule,
      request,
      expected,
    },
  }
}

function titleOf({ operation, method, path, status, code }: Entry, redact: Redact): string {
  const what = operation?.id ?? `${redact(method)} ${redact(path)}`
  const answer = `answers ${status}${code === undefined ? '' : ` ${redact(code)}`}`
  return `${what} ${status === undefined ? 'gets no answer' : answer}`
}

function usedUpBy({ operation, problems, code, injected }: Entry): string | undefined {
  const isLimited = code === 'rate_limited' && problems[0]?.code === 'rate_limited' && !injected
  return isLimited ? operation?.path.slice(1) : undefined
}

function requestOf(entry: Entry, { basePath }: ServiceContract, redact: Redact): Scenario['request'] {
  const { method, target, headers } = entry
  const { path, query } = splitTarget(target)
  const isBelowBase = path === basePath || path.startsWith(`${basePath}/`)
  const local = redact(isBelowBase ? path.slice(basePath.length) : path)
  const whole = withoutBrackets(query === undefined ? local : `${local}?${redactQuery(query, redact)}`)
  const fields = DECISIVE.flatMap((name) => {
    const value = fieldOf(headers, name)
    return value === undefined ? [] : [[name, redactField(name, value, redact)] as const]
  })
  return {
    method: redact(method),
    // A client that is not as liberal as the service would refuse other characters.
    path: whole.replaceAll(/[^\x21-\x7e]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`),
    isBelowBase,
    headers: Object.fromEntries(fields),
    body: sentBody(entry, redact),
  }
}

/** The body as it is sent again. One that nobody has read matters only by being there. */
function sentBody({ method, body, problems }: Entry, redact: Redact): SentBody | undefined {
  if (body === undefined || body.size === 0) return undefined
  if (!isUnread(body)) return bodyOf(bytesOf(body), redact)
  const isSafe = method === 'GET' || method === 'HEAD'
  return isSafe && problems[0]?.reason !== 'unread' ? undefined : SUBSTITUTE
}

function bodyOf(bytes: Buffer, redact: Redact): SentBody {
  // A secret may stand among bytes that are no text; in base64, nobody would see it.
  if (!isUtf8(bytes)) return { kind: 'bytes', bytes: Buffer.from(redact(bytes.toString('latin1')), 'latin1') }
  const text = redact(bytes.toString())
  const value = readJson(text)
  // Numbers, spaces and repeated names may be written otherwise than JavaScript writes them.
  const isSame = value !== undefined && !isNestedBeyond(value, DEEPEST) && JSON.stringify(value) === text
  return isSame ? { kind: 'json', value, text } : { kind: 'text', text }
}

function hasHidden(request: Scenario['request']): boolean {
  const { body } = request
  const text = body === undefined ? '' : 'text' in body ? body.text : body.bytes.toString('latin1')
  return JSON.stringify({ ...request, body: text }).includes(HIDDEN)
}

/** The rule that acted, so that it acts on this request and at once. */
function ruleOf({ injection, injected }: Entry, redact: Redact): FaultRule | undefined {
  if (injection?.source !== 'rule' || !injected) return undefined
  const { description, skip, probability, expires_after, delay_ms, jitter_ms, match = {}, ...rest } = injection.rule
  const { key: _, ...matched } = match
  return redactWithin(
    {
      ...(Object.keys(matched).length > 0 && { match: matched }),
      ...rest,
      ...(rest.connection === 'drip' && { delay_ms: DRIP }),
      times: 1,
    },
    redact,
  )
}

function isDelayed({ injection, injected }: Entry): boolean {
  return injected && injection?.source === 'rule' && (injection.rule.delay_ms ?? injection.rule.jitter_ms ?? 0) > 0
}

function expectationOf(entry: Entry, isExact: boolean, redact: Redact): Expectation {
  const { status, injection, injected } = entry
  const connection = injected ? injection?.rule.connection : undefined
  if (status === undefined || (connection !== undefined && connection !== 'drip')) {
    return { kind: 'failure', isEndless: connection === 'hang' }
  }
  return { kind: 'response', status, body: expectedBody(entry, isExact, redact) }
}

function expectedBody(entry: Entry, isExact: boolean, redact: Redact): ExpectedBody {
  const { method, operation, code, problems, responseBody, injected, injection } = entry
  if (method === 'HEAD' || responseBody === undefined || responseBody.size === 0) return { kind: 'any' }
  // What a fault makes of a body depends on chance.
  if (injected && injection?.rule.corrupt !== undefined) return { kind: 'any' }
  const text = isCut(responseBody) ? undefined : textOf(responseBody)
  const value = text === undefined || redact(text) !== text ? undefined : readJson(text)
  const answered = valueAt(value, '/error/code')
  if (code !== undefined && redact(code) === code && (answered === undefined || answered === code)) {
    const field = injected ? undefined : problems[0]?.field
    return { kind: 'refusal', code, field: field === undefined || redact(field) !== field ? undefined : field }
  }
  if (injected && injection?.source === 'rule' && text !== undefined && redact(text) === text)
    return { kind: 'text', text }
  if (!isObject(value) || injected) return { kind: 'any' }
  if (!isExact) return { kind: 'success' }
  return { kind: 'json', value, hasNewId: operation?.id === 'createDomainGroup' }
}
