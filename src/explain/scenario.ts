import type { ServiceContract } from '../behaviour/operation.ts'
import { shownBy } from '../behaviour/operations/operations.ts'
import { operationOf } from '../contract/api.ts'
import type { FaultRule } from '../domain/faults.ts'
import { isObject, readJson, valueAt } from '../ground/json.ts'
import { isDeeperThan } from '../ground/nesting.ts'
import { splitTarget } from '../ground/target.ts'
import { bytesOf, type Entry, fieldOf, isBodyUnknown, isUnread, type RecordedBody, textOf } from '../journal/entry.ts'
import { HIDDEN } from '../journal/redaction/key-shapes.ts'
import { type Redact, redactWithin, withoutBrackets } from '../journal/redaction/redaction.ts'
import { type SetUp, type SetUpSource, setUpFor } from './set-up.ts'

/** A body that is sent: JSON whose text is the same when it is written again, another text, or other bytes. */
type SentBody =
  | { kind: 'json'; value: unknown; text: string }
  | { kind: 'text'; text: string }
  | { kind: 'bytes'; bytes: Buffer }

/** The expected body of a response. */
export type ExpectedBody =
  | { kind: 'any' }
  | { kind: 'success' }
  /** `field` is the field of the first problem in the journal. */
  | { kind: 'refusal'; code: string; field: string | undefined }
  /** With `hasNewId`, the body contains a new group id. */
  | { kind: 'json'; value: unknown; hasNewId: boolean }
  | { kind: 'text'; text: string }

/** The expected outcome: a response, or a failure (no response or an incomplete one), at once or never. */
export type Expectation =
  | { kind: 'response'; status: number; body: ExpectedBody }
  | { kind: 'failure'; isEndless: boolean }

/** A request that a user can send again, with all that it needs, and the expected outcome. */
export interface Scenario {
  /** The operation, or method and path, and the answer: `addDomains answers 400 invalid_domain`. */
  title: string
  /** Sentences about the differences from the original exchange. */
  remarks: readonly string[]
  setUp: SetUp['account']
  /** Whether the key of the request is disabled. */
  hasDisabledKey: boolean
  /** The bucket of the exhausted quota. */
  usedUp: string | undefined
  rule: FaultRule | undefined
  request: {
    method: string
    /** Begins with a slash. */
    path: string
    /** Whether `path` is relative to the base URL of the service, and not to its host. */
    isBelowBase: boolean
    headers: Readonly<Record<string, string>>
    body: SentBody | undefined
  }
  expected: Expectation
}

/** The sources of a scenario besides its request. */
export interface ScenarioSource extends SetUpSource {
  redact: Redact
}

/** The header fields that can change the outcome, besides the key. Clients add the other fields by themselves. */
const DECISIVE = ['content-type', 'content-encoding', 'prefer']
/** The replacement for a body that was not read. */
const SUBSTITUTE: SentBody = { kind: 'json', value: {}, text: '{}' }
const UNREAD = 'The service did not read the body, so the journal does not have it, and an empty object stands for it.'
/** The maximum nesting of a body that is written as a literal. Python reads at most a hundred levels. */
const DEEPEST = 20
/** In milliseconds: the duration of a dripped response. */
const DRIP = 200

/** The scenario of a request, or the reason in one sentence why there is none. */
export function scenarioOf(
  entry: Entry,
  source: ScenarioSource,
): { ok: true; scenario: Scenario } | { ok: false; why: string } {
  const { account, body, failure, status, injected, target } = entry
  const no = (why: string) => ({ ok: false as const, why })
  if (account === undefined && !isForAnyAccount(entry))
    return no('The request belongs to no account, so there is none to set up.')
  // Clients write the first two fields by themselves.
  const isRefusedByField = ['host', 'malformed'].includes(entry.problems[0]?.reason ?? '')
  const isKeyUnread = entry.keyEvidence.ordinal === 0 && entry.code === 'unauthorized'
  if (isRefusedByField || isKeyUnread)
    return no('The request was refused because of the form of a header field, which the code would not repeat.')
  const isUnknown = hasUnreadBody(entry)
  if (body?.isCut === true && (!isUnknown || entry.problems[0]?.reason === 'bytes')) {
    return no('The journal keeps only the beginning of the body, so the request cannot be sent again.')
  }
  if (failure !== undefined) return no('The stand-in itself failed, which the same request does not bring about again.')
  if (status === undefined && !injected)
    return no('The client left before a response was sent, so none can be expected.')
  const { path } = splitTarget(target)
  if (!path.startsWith('/')) return no('The target of the request is no path.')
  const { contract, redact } = source
  const { account: setUp, isExact, missing } = setUpFor(entry, source)
  const rule = ruleOf(entry)
  const request = requestOf(entry, contract)
  // One check of the whole set-up is much faster than a check of each of its up to a thousand names.
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
  const expected = expectationOf(entry, isExact && !isHiddenInSetUp)
  return {
    ok: true,
    scenario: {
      title: titleOf(entry),
      remarks,
      setUp: isHiddenInSetUp ? redactWithin(setUp, redact) : setUp,
      hasDisabledKey: entry.keyEvidence.disabled,
      usedUp: usedUpBy(entry, contract),
      rule,
      request,
      expected,
    },
  }
}

/** Whether the path or the method is refused, which every account and every key brings about. */
function isForAnyAccount({ operation, problems: [problem] }: Entry): boolean {
  return operation === undefined && problem?.code === 'not_found' && ['path', 'method'].includes(problem.reason ?? '')
}

function titleOf({ operation, method, path, status, code }: Entry): string {
  const what = operation ?? `${method} ${path}`
  const answer = `answers ${status}${code === undefined ? '' : ` ${code}`}`
  return `${what} ${status === undefined ? 'gets no answer' : answer}`
}

function usedUpBy({ operation, problems, code, injected }: Entry, contract: ServiceContract): string | undefined {
  const isLimited = code === 'rate_limited' && problems[0]?.code === 'rate_limited' && !injected
  return isLimited ? operationOf(contract, operation)?.path.slice(1) : undefined
}

function requestOf(entry: Entry, { basePath }: ServiceContract): Scenario['request'] {
  const { method, target, headers } = entry
  const { path, query } = splitTarget(target)
  const isBelowBase = path === basePath || path.startsWith(`${basePath}/`)
  const local = isBelowBase ? path.slice(basePath.length) : path
  const whole = withoutBrackets(query === undefined ? local : `${local}?${query}`)
  const fields = DECISIVE.flatMap((name) => {
    const value = fieldOf(headers, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    method,
    // A client that is stricter than the service would refuse other characters.
    path: whole.replaceAll(/[^\x21-\x7e]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`),
    isBelowBase,
    headers: Object.fromEntries(fields),
    body: sentBody(entry),
  }
}

/** The body that is sent again. For a body that was not read, only its presence matters. */
function sentBody(entry: Entry): SentBody | undefined {
  const { method, body } = entry
  if (!hasUnreadBody(entry)) return body === undefined || body.size === 0 ? undefined : bodyOf(body)
  const isSafe = method === 'GET' || method === 'HEAD'
  return isSafe ? undefined : SUBSTITUTE
}

function hasUnreadBody(entry: Entry): boolean {
  return isBodyUnknown(entry) && (entry.body === undefined || isUnread(entry.body))
}

function bodyOf(body: RecordedBody): SentBody {
  const { text } = body
  if (text === undefined) return { kind: 'bytes', bytes: bytesOf(body) }
  const value = readJson(text)
  // JavaScript may write numbers, spaces and repeated names in another way.
  const isSame = value !== undefined && !isDeeperThan(DEEPEST, value) && JSON.stringify(value) === text
  return isSame ? { kind: 'json', value, text } : { kind: 'text', text }
}

function hasHidden(request: Scenario['request']): boolean {
  const { body } = request
  const text = body === undefined ? '' : 'text' in body ? body.text : body.bytes.toString('latin1')
  return JSON.stringify({ ...request, body: text }).includes(HIDDEN)
}

/** The rule that acted, changed so that it acts on this request and at once. */
function ruleOf({ injection, injected }: Entry): FaultRule | undefined {
  if (injection?.source !== 'rule' || !injected) return undefined
  const { description, skip, probability, expires_after, delay_ms, jitter_ms, match = {}, ...rest } = injection.rule
  const { key: _, ...matched } = match
  return {
    ...(Object.keys(matched).length > 0 && { match: matched }),
    ...rest,
    ...(rest.connection === 'drip' && { delay_ms: DRIP }),
    times: 1,
  }
}

function isDelayed({ injection, injected }: Entry): boolean {
  return injected && injection?.source === 'rule' && (injection.rule.delay_ms ?? injection.rule.jitter_ms ?? 0) > 0
}

function expectationOf(entry: Entry, isExact: boolean): Expectation {
  const { status, injection, injected } = entry
  const connection = injected ? injection?.rule.connection : undefined
  if (status === undefined || (connection !== undefined && connection !== 'drip')) {
    return { kind: 'failure', isEndless: connection === 'hang' }
  }
  return { kind: 'response', status, body: expectedBody(entry, isExact) }
}

function expectedBody(entry: Entry, isExact: boolean): ExpectedBody {
  const { method, operation, code, problems, responseBody, injected, injection } = entry
  if (method === 'HEAD' || responseBody === undefined || responseBody.size === 0) return { kind: 'any' }
  // The effect of a fault on a body depends on chance.
  if (injected && injection?.rule.corrupt !== undefined) return { kind: 'any' }
  const isWhole = responseBody.isCut !== true && isOpen(textOf(responseBody))
  const text = isWhole ? textOf(responseBody) : undefined
  const value = text === undefined ? undefined : readJson(text)
  const answered = valueAt(value, '/error/code')
  if (code !== undefined && isOpen(code) && (answered === undefined || answered === code)) {
    const field = injected ? undefined : problems[0]?.field
    return { kind: 'refusal', code, field: field !== undefined && isOpen(field) ? field : undefined }
  }
  if (injected && injection?.source === 'rule' && text !== undefined) return { kind: 'text', text }
  if (!isObject(value) || injected) return { kind: 'any' }
  if (!isExact) return { kind: 'success' }
  return { kind: 'json', value, hasNewId: shownBy(operation, value['data']).isNew === true }
}

/** Whether no secret is hidden in a recorded text. */
function isOpen(text: string): boolean {
  return !text.includes(HIDDEN)
}
