import type { ExchangeLog } from '../accounts/exchange-log.ts'
import type { Contract } from '../contract/contract.ts'
import type { ServerUrls } from '../coverage/curl.ts'
import { pageAddress } from '../explain/page-address.ts'
import { type Clock, elapsed } from '../ground/clock.ts'
import { memoize } from '../ground/memo.ts'
import type { Arrival } from '../http/arrival.ts'
import { hasBody } from '../http/body.ts'
import { type Content, UNREAD } from '../http/content.ts'
import type { Headers } from '../http/delivery.ts'
import { type Log, SILENT } from '../http/log.ts'
import type { MalformedExchange } from '../http/malformed-response.ts'
import { splitTarget } from '../http/target.ts'
import { type Entry, keyEvidenceOf, NOT_ADMITTED } from '../journal/entry.ts'
import type { NewEntry } from '../journal/journal.ts'
import { nameInLog } from '../journal/redaction/key-shapes.ts'
import { redactWithin } from '../journal/redaction/redaction.ts'
import { MISLED } from './routing.ts'
import type { Outcome } from './stages.ts'

export interface RecorderDeps {
  contract: Contract
  exchanges: Pick<ExchangeLog<unknown>, 'journal' | 'take'>
  clock: Clock
  log: Log
  /** Absent if nobody can reach the service over HTTP. */
  urls?: ServerUrls | undefined
}

const NOTHING = Buffer.alloc(0)
const NONE: NewEntry['violations'] = []

/** Records an exchange. `headers` are those of its response, if one is sent. */
export type Recorder = (outcome: Outcome, headers: Headers) => void

/** Creates the function that records each exchange: in the journal, for the coverage of the contract and in the log. */
export function createRecorder({ contract, exchanges, clock, log, urls }: RecorderDeps): Recorder {
  const { journal } = exchanges
  const { gracePeriod } = contract.settings
  const nameAccount = memoize(nameInLog, { limit: 10_000 })

  return function record(outcome, headers) {
    const { gated, checked, reply } = outcome
    const { query, started } = gated.routed
    const ended = elapsed()
    const duration = Math.round((ended - started) * 1000) / 1000
    const entry = exchanges.take(entryOf(outcome, headers, duration), {
      history: gated.history,
      query,
      body: checked?.value,
      // To refuse the path or the method is a check against the contract, too.
      judged: checked !== undefined || outcome.violatesContract,
      principal: gated.principal,
      owner: gated.owner,
      started,
      ended,
      requestBody: checked?.content ?? (hasBody(gated.routed.request) ? UNREAD : undefined),
      responseBody: reply?.body,
    })
    if (log !== SILENT) writeLog(outcome, entry, duration)
  }

  /** The address of a refused request. The log hides some ids of accounts, so it has no address with such an id. */
  function pageOf({ requestId, account, status = 0, violatesContract }: NewEntry): string | undefined {
    if (urls === undefined || (status < 400 && !violatesContract)) return undefined
    if (account !== undefined && nameAccount(account) !== account) return undefined
    return pageAddress(requestId, account, urls)
  }

  function writeLog({ gated, reply, injection }: Outcome, entry: NewEntry, duration: number): void {
    const { requestId, operation, principal, routed } = gated
    if (reply?.breach) {
      const redact = journal.redactorFor(entry)
      const violations = redactWithin(reply.breach.violations, redact)
      log.warn({ request_id: requestId, violations }, redact(reply.breach.message))
    }
    log.info(
      {
        request_id: requestId,
        method: routed.request.method,
        path: isFixed(operation) ? routed.path : journal.redactorFor(entry)(routed.path),
        host: routed.refusal === MISLED ? journal.redactorFor(entry)(routed.request.headers.host ?? '') : undefined,
        operation: operation?.id,
        account: principal && nameAccount(principal.account.id),
        key: principal?.key.id,
        status: reply?.status,
        code: reply?.code,
        fault: injection?.id ?? injection?.source,
        ms: duration,
        page: pageOf(entry),
      },
      'request',
    )
  }

  /** Nothing in the entry keeps the request or the response in memory. */
  function entryOf(outcome: Outcome, responseHeaders: Headers, duration: number): Entry {
    const { gated, checked, reply, problems, violatesContract, failure, before, moment, after, allowance, decided } =
      outcome
    const { requestId, operation, principal, disabled, owner, routed } = gated
    const { request, path } = routed
    const seen = principal ?? disabled
    const known = seen ?? owner
    const content = checked?.content
    return {
      requestId,
      at: known?.now ?? clock(),
      duration,
      account: known?.account.id,
      key: known?.key.id,
      method: request.method ?? '',
      target: request.url ?? '',
      path,
      headers: request.rawHeaders,
      body: content === undefined ? unreadBody(request) : journal.keepBody(content),
      operation,
      allowance,
      status: reply?.status,
      code: reply?.code,
      problems: journal.keepProblems(problems, content?.size ?? 0),
      violatesContract,
      decided,
      responseHeaders,
      responseBody: reply && journal.keepBody(reply.body),
      violations: reply?.breach?.violations ?? NONE,
      injection: injectionIn(outcome),
      injected: isInjected(outcome),
      keyEvidence: keyEvidenceOf(seen, gracePeriod),
      group: checked?.group,
      before,
      moment,
      after,
      failure,
      // The journal sets both. Fields that are added later would need another object in each entry.
      ordinal: 0,
      weight: 0,
    }
  }
}

/** Creates the function that records input that is not HTTP. It belongs to no account and to no operation. */
export function createMalformedRecorder({
  exchanges,
  clock,
}: Pick<RecorderDeps, 'exchanges' | 'clock'>): (exchange: MalformedExchange) => void {
  return function record({ requestId, method, target, problem, response }) {
    const { status, code, headers = {}, body } = response ?? {}
    const entry: NewEntry = {
      ...NOT_ADMITTED,
      requestId,
      at: clock(),
      duration: 0,
      account: undefined,
      key: undefined,
      method,
      target,
      path: splitTarget(target).path,
      headers: [],
      body: undefined,
      operation: undefined,
      status,
      code,
      problems: [problem],
      violatesContract: true,
      responseHeaders: Object.entries(headers).flat(),
      responseBody: body && exchanges.journal.keepBody({ held: body, size: body.length }),
      violations: [],
    }
    exchanges.take(entry, {
      history: undefined,
      query: {},
      body: undefined,
      judged: true,
      ...{ principal: undefined, owner: undefined },
      started: 0,
      ended: 0,
      requestBody: undefined,
      responseBody: undefined,
    })
  }
}

/** Whether the path of the operation has no parameters, so that a client can put nothing into it. */
function isFixed(operation: NewEntry['operation']): boolean {
  return operation !== undefined && !operation.path.includes('{')
}

/** Whether the response, or its absence, comes from an injection. A mere delay changes nothing. */
function isInjected({ injection, effect, reply }: Outcome): boolean {
  if (injection === undefined) return false
  if (reply === undefined) return effect !== undefined
  return reply.injected === true
}

/** The part of the injection that the journal keeps. */
function injectionIn({ injection, effect }: Outcome): NewEntry['injection'] {
  if (injection === undefined) return undefined
  const { source, id, rule } = injection
  return { source, id, rule, effect }
}

/** A body that was never read, for example because of its size, which is known if it was declared. */
function unreadBody({ headers }: Arrival): Content | undefined {
  const size = Number(headers['content-length'] ?? 0)
  return size > 0 ? { held: NOTHING, size } : undefined
}
