import type { ExchangeLog } from '../accounts/exchange-log.ts'
import type { Operation } from '../contract/api.ts'
import { hasBody } from '../contract/body.ts'
import type { Contract } from '../contract/contract.ts'
import type { ServerUrls } from '../coverage/curl.ts'
import type { DomainGroup } from '../domain/account.ts'
import { pageAddress } from '../explain/page-address.ts'
import { isObject } from '../ground/json.ts'
import { type Log, SILENT } from '../ground/log.ts'
import { memoize } from '../ground/memo.ts'
import { type Arrival, type Headers, UNREAD } from '../ground/message.ts'
import { type Clock, elapsed } from '../ground/timers.ts'
import { fieldOf, keyEvidenceOf, type NewEntry, PAST, type RecordedBody } from '../journal/entry.ts'
import { redactWithin } from '../journal/redaction/redaction.ts'
import type { RequestRedaction } from '../journal/redaction/request-redaction.ts'
import { nameInLog } from '../journal/redaction/secrets.ts'
import { type Exchange, MISLED } from './exchange.ts'

export interface RecorderDeps {
  contract: Contract
  exchanges: Pick<ExchangeLog, 'journal' | 'take'>
  clock: Clock
  log: Log
  urls?: ServerUrls | undefined
}

const NONE: readonly never[] = []

/** Records an exchange. `headers` are those of its response, if one is sent. */
export type Recorder = (exchange: Exchange, headers: Headers) => void

/** Creates the function that records each exchange: in the journal, for the coverage of the contract and in the log. */
export function createRecorder({ contract, exchanges, clock, log, urls }: RecorderDeps): Recorder {
  const { journal } = exchanges
  const { gracePeriod } = contract.settings
  const { problems: most } = journal.limits
  const nameAccount = memoize(nameInLog, { limit: 10_000 })

  return function record(exchange, headers) {
    const { request, operation, history, query, value: body, group, principal, owner, started } = exchange
    const ended = elapsed()
    const duration = Math.round((ended - started) * 1000) / 1000
    const entry = exchanges.take(entryOf(exchange, headers, duration), {
      history,
      operation,
      query,
      body,
      group,
      // To refuse the path or the method is a check against the contract, too.
      judged: exchange.conformity !== undefined || exchange.violatesContract,
      principal,
      owner,
      started,
      ended,
      requestBody: exchange.content ?? (hasBody(request) ? UNREAD : undefined),
      responseBody: exchange.reply?.body,
    })
    if (log !== SILENT) writeLog(exchange, entry, duration)
  }

  function redactionOf({ rawHeaders: headers, url: target = '' }: Arrival, key: string | undefined): RequestRedaction {
    return journal.redactions.of({ headers, target, key })
  }

  /** The address of a refused request. The log hides some ids of accounts, so it has no address with such an id. */
  function pageOf({ id = '', account, status = 0, violatesContract }: NewEntry): string | undefined {
    if (urls === undefined || (status < 400 && !violatesContract)) return undefined
    if (account !== undefined && nameAccount(account) !== account) return undefined
    return pageAddress(id, account, urls)
  }

  function writeLog(exchange: Exchange, entry: NewEntry, duration: number): void {
    const { request, path, unrouted, requestId, operation, principal, reply, injection } = exchange
    if (reply?.breach) {
      const { redact } = redactionOf(request, principal?.key.id)
      log.warn({ request_id: requestId, violations: entry.violations }, redact(reply.breach.message))
    }
    log.info(
      {
        request_id: requestId,
        method: request.method,
        path: isFixed(operation) ? path : entry.path,
        host: unrouted === MISLED ? fieldOf(entry.headers, 'host') : undefined,
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

  /** Nothing in the entry keeps the request or the response in memory, or has a secret. */
  function entryOf(exchange: Exchange, responseHeaders: Headers, duration: number): NewEntry {
    const { request, path, requestId, operation, allowance, before, moment, after } = exchange
    const { content, value, group, reply, problems, violatesContract, failure, decided } = exchange
    const seen = exchange.principal ?? exchange.disabled
    const known = seen ?? exchange.owner
    const target = request.url ?? ''
    const key = known?.key.id
    const hidden = redactionOf(request, key)
    const shown = hidden.target(target)
    return {
      // The journal gives it. A field that is added later would need another object in each entry.
      ordinal: 0,
      id: journal.nextId(),
      requestId,
      account: known?.account.id,
      key,
      presented: hidden.presented,
      at: known?.now ?? clock(),
      method: hidden.redact(request.method ?? ''),
      target: shown,
      path: path === target ? shown : hidden.redact(path),
      headers: hidden.headers(request.rawHeaders),
      body: content === undefined ? unreadBody(request) : hidden.body(content),
      operation: operation?.id,
      allowance,
      status: reply?.status,
      code: reply?.code,
      problems: problems.length === 0 ? NONE : hidden.problems(problems.slice(0, most), content?.size ?? 0),
      violatesContract,
      decided,
      responseHeaders: hidden.responseHeaders(responseHeaders, reply?.foreign),
      responseBody: reply && hidden.body(reply.body),
      violations: reply?.breach === undefined ? NONE : redactWithin(reply.breach.violations, hidden.redact),
      injection: injectionIn(exchange, hidden),
      injected: isInjected(exchange),
      keyEvidence: keyEvidenceOf(seen, gracePeriod),
      group: group && hidden.withinKept(decisivePart(group, value, contract)),
      duration,
      failure: failure === undefined ? undefined : hidden.redact(String((failure as Error)?.stack ?? failure)),
      moment,
      [PAST]: before && after ? { account: before.account, counters: before.counters, after } : before,
    }
  }
}

/** Up to this size, all members of a group are kept. Of a larger group, only those that explain the request are. */
const MEMBERS = 50

/** The part of a group that the rules of the contract need: whether it has members, and which of these are removed. */
function decisivePart(group: DomainGroup, body: unknown, contract: Contract): DomainGroup {
  const { domains } = group
  if (domains.length <= MEMBERS) return group
  const removed = isObject(body) && Array.isArray(body['remove_domains']) ? body['remove_domains'] : []
  const named = new Set(
    removed.map((name) => (typeof name === 'string' ? contract.canonicalHostname(name) : undefined)),
  )
  return { ...group, domains: domains.filter((domain, index) => index === 0 || named.has(domain)) }
}

/** Whether the path of the operation has no parameters, so that a client can put nothing into it. */
function isFixed(operation: Operation | undefined): boolean {
  return operation !== undefined && !operation.path.includes('{')
}

/** Whether the response, or its absence, comes from an injection. A mere delay changes nothing. */
function isInjected({ injection, effect, reply }: Exchange): boolean {
  if (injection === undefined) return false
  if (reply === undefined) return effect !== undefined
  return reply.injected === true
}

/** The part of the injection that the journal keeps. */
function injectionIn({ injection, effect }: Exchange, hidden: RequestRedaction): NewEntry['injection'] {
  if (injection === undefined) return undefined
  const { source, id, rule } = injection
  return { source, id, rule: hidden.within(rule), effect: effect && hidden.redact(effect) }
}

/** A body that was never read, for example because of its size, which is known if it was declared. */
function unreadBody({ headers }: Arrival): RecordedBody | undefined {
  const size = Number(headers['content-length'] ?? 0)
  return size > 0 ? { size } : undefined
}
