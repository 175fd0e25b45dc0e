import type { ExchangeLog } from '../accounts/exchange-log.ts'
import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import { conform } from '../behaviour/conformity.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import type { Operation } from '../contract/api.ts'
import type { Problem } from '../domain/errors.ts'
import type { Exchange, SeenBody, SeenResponse } from '../exchanges/exchange.ts'
import { codeIn, envelopeIn } from '../exchanges/reading.ts'
import { type DescribedViolation, reportViolation } from '../ground/schema.ts'
import { createBodyReader } from '../http/body.ts'
import type { Content } from '../http/content.ts'
import { createRouter } from '../http/router.ts'
import { createQueryReader, type Query, splitTarget } from '../http/target.ts'
import { NOT_ADMITTED } from '../journal/entry.ts'
import type { NewEntry } from '../journal/journal.ts'
import type { Sighting } from './sighting.ts'
import type { PassedExchange } from './traffic.ts'

/** Adds an exchange that was passed on to the journal, for the coverage and for the verdict on the clients. */
export type EntryMaker = (sighting: Sighting, passed: PassedExchange) => void

/** How a request conforms to the contract, independent of the account. */
interface RequestConformity {
  operation: Operation | undefined
  query: Query
  body: unknown
  problems: readonly Problem<string>[]
  /** Whether it was checked against the whole contract. */
  isJudged: boolean
}

export function createEntryMaker(contract: ServiceContract, exchanges: ExchangeLog<unknown>): EntryMaker {
  const { journal } = exchanges
  const hold = createHolder(contract)
  const history = exchanges.historyOf(DEFAULT_ACCOUNT, 0)

  return function note({ exchange, recorded, redact, isOfService }, passed) {
    const { request, response } = exchange
    const { path } = splitTarget(request.target)
    const held = isOfService ? hold(exchange) : UNHELD
    const violatesContract = held.problems.length > 0
    const shown = (fields: readonly (readonly [string, string])[]) =>
      fields.filter(([name]) => !SECRET.test(name)).flatMap(([name, value]) => [redact(name), redact(value)])
    const entry: NewEntry = {
      ...NOT_ADMITTED,
      requestId: exchange.id,
      at: exchange.at,
      duration: Math.round((passed.ended - passed.started) * 1000) / 1000,
      account: DEFAULT_ACCOUNT,
      key: request.credentials.kind === 'sent' && request.credentials.key !== '' ? request.credentials.key : undefined,
      method: request.method,
      target: request.target,
      path,
      headers: shown(recorded.request.fields),
      body: contentOf(request.body, passed.request.body.size),
      operation: held.operation,
      status: response?.status,
      code: response && codeIn(response, LARGEST_ENVELOPE),
      problems: journal.keepProblems(held.problems, passed.request.body.size),
      violatesContract,
      responseHeaders: shown(recorded.response?.fields ?? []),
      responseBody: response && contentOf(response.body, passed.response?.body.size ?? 0),
      violations: isOfService && response !== undefined ? violationsOf(held.operation, request.method, response) : [],
    }
    exchanges.take(entry, {
      history,
      query: held.query as Record<string, string>,
      body: held.body,
      judged: held.isJudged,
      principal: undefined,
      started: passed.started,
      ended: passed.ended,
      requestBody: undefined,
      responseBody: undefined,
    })
  }

  function contentOf(body: SeenBody, size: number): Content | undefined {
    if (!body.isKnown) return size > 0 ? { held: Buffer.alloc(0), size } : undefined
    const { bytes } = body
    return bytes.length === 0 ? undefined : journal.keepBody({ held: bytes, size: bytes.length })
  }

  function violationsOf(
    operation: Operation | undefined,
    method: string,
    { status, headers, body }: SeenResponse,
  ): readonly DescribedViolation[] {
    const documented = operation?.responses.get(status)
    if (documented === undefined) return []
    const envelope = method === 'HEAD' ? undefined : envelopeIn(body, LARGEST_ENVELOPE)
    const ofBody = envelope === undefined ? [] : documented.check(envelope)
    return [...documented.checkHeaders(headers as Record<string, string>), ...ofBody]
      .slice(0, LISTED)
      .map(reportViolation)
  }
}

const UNHELD: RequestConformity = { operation: undefined, query: {}, body: undefined, problems: [], isJudged: false }
/** The largest JSON that is parsed, in bytes. Parsing a larger one would delay the traffic that is passed on. */
const LARGEST_ENVELOPE = 1 << 20
/** How many violations of a response are kept. */
const LISTED = 100
const SECRET = /^(?:authorization|proxy-authorization|cookie2?|set-cookie2?)$/i
/** The statuses with which a service refuses a request before it looks at the content. */
const BEFORE = new Set([401, 403, 429])

function createHolder(contract: ServiceContract): (exchange: Exchange) => RequestConformity {
  const { settings, catalogue } = contract
  const findRoute = createRouter(contract, settings)
  const bodies = createBodyReader(settings)
  const readQuery = createQueryReader(settings)
  return ({ request, response }) => {
    const { path, query: text } = splitTarget(request.target)
    const query = readQuery(text)
    const route = findRoute(request.method, path)
    if (!route.ok) return { ...UNHELD, query, problems: route.problems, isJudged: true }
    const { operation } = route
    const isUnread = operation.readsBody && !request.body.isKnown
    if (isUnread || (response !== undefined && BEFORE.has(response.status))) return { ...UNHELD, operation, query }
    const bytes = request.body.isKnown ? request.body.bytes : Buffer.alloc(0)
    // The bytes are already decoded. The contract forbids a content coding.
    const read = bodies.readBytes(bytes, request.headers, operation)
    const conforming = conform({ operation, query, body: read }, settings, catalogue)
    if (!conforming.ok)
      return { operation, query, body: conforming.value, problems: conforming.problems, isJudged: true }
    return { operation, query, body: conforming.body, problems: [], isJudged: true }
  }
}
