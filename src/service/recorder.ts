import type { IncomingMessage } from 'node:http'
import type { Worlds } from '../accounts/worlds.ts'
import type { Contract } from '../contract/contract.ts'
import { isInGrace } from '../domain/keys.ts'
import { type Clock, elapsed } from '../ground/clock.ts'
import type { Content } from '../http/content.ts'
import type { MalformedExchange } from '../http/engine/malformed.ts'
import type { Headers } from '../http/engine/outbox.ts'
import type { Log } from '../http/log.ts'
import type { Reply } from '../http/reply.ts'
import { splitTarget } from '../http/target.ts'
import { type Injection, type KeyEvidence, NO_KEY } from '../journal/entry.ts'
import type { NewEntry } from '../journal/journal.ts'
import { redactKeys } from '../journal/redaction.ts'
import type { Exchange } from './exchange.ts'

export interface RecorderDeps {
  contract: Contract
  worlds: Worlds
  clock: Clock
  log: Log
}

const NOTHING = Buffer.alloc(0)
const NONE: NewEntry['violations'] = []

/** What was sent: nothing, where the connection was cut or the client had left. */
export type Record = (exchange: Exchange, requestId: string, reply: Reply | undefined, headers: Headers) => void

/** A function that takes note of each exchange: in the journal, for the coverage of the contract and in the log. */
export function createRecorder({ contract, worlds, clock, log }: RecorderDeps): Record {
  const { gracePeriod } = contract.settings

  return function record(exchange, requestId, reply, headers) {
    const { request, caller, operation, injection, path } = exchange
    if (reply?.breach) log.warn({ request_id: requestId, violations: reply.breach.violations }, reply.breach.message)
    const duration = Math.round((elapsed() - exchange.started) * 1000) / 1000
    const history = (caller ?? exchange.holder)?.history
    worlds.record(entryOf(exchange, requestId, reply, headers, duration), history, exchange.query, exchange.value)
    log.info(
      {
        request_id: requestId,
        method: request.method,
        path: operation === undefined ? redactKeys(path) : path,
        operation: operation?.id,
        account: caller?.account.id,
        key: caller?.key.id,
        status: reply?.status,
        code: reply?.code,
        fault: injection?.id ?? injection?.source,
        ms: duration,
      },
      'request',
    )
  }

  /** Nothing in it holds on to the request, the response or the account. */
  function entryOf(
    exchange: Exchange,
    requestId: string,
    reply: Reply | undefined,
    responseHeaders: Headers,
    duration: number,
  ): NewEntry {
    const { request, caller, holder, operation, allowance, body, problems, injection, decided } = exchange
    const { journal } = worlds
    const known = caller ?? holder
    const ranked = reply?.problem && problems[0] !== reply.problem ? foremostFirst(problems, reply.problem) : problems
    return {
      requestId,
      at: known?.now ?? clock(),
      duration,
      account: known?.account.id,
      key: known?.key.id,
      method: request.method ?? '',
      target: request.url ?? '',
      path: exchange.path,
      headers: request.rawHeaders,
      body: body === undefined ? unreadBody(request) : journal.keepBody(body),
      operation,
      allowance,
      status: reply?.status,
      code: reply?.code,
      problems: journal.keepProblems(ranked, body?.size ?? 0),
      unlawful: exchange.unlawful === true,
      decided,
      responseHeaders,
      responseBody: reply && journal.keepBody(reply.body),
      violations: reply?.breach?.violations ?? NONE,
      injection: injection && withoutDraw(injection),
      injected: isInjected(exchange, reply),
      keyEvidence: keyEvidence(known),
      group: exchange.group,
      failure: exchange.failure,
    }
  }

  function keyEvidence(known: Exchange['caller']): KeyEvidence {
    if (known === undefined) return NO_KEY
    const { account, key, now } = known
    const inGrace = isInGrace(key, now, gracePeriod)
    return { ordinal: account.keys.indexOf(key) + 1, disabled: key.disabled, inGrace }
  }
}

/** A function that takes note of what was not HTTP. It belongs to no account, and to no operation. */
export function createMalformedRecorder({
  worlds,
  clock,
}: Pick<RecorderDeps, 'worlds' | 'clock'>): (exchange: MalformedExchange) => void {
  return function record({ requestId, method, target, problem, status, headers, body }) {
    const entry: NewEntry = {
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
      allowance: undefined,
      status,
      code: problem.code,
      problems: [problem],
      unlawful: true,
      decided: undefined,
      responseHeaders: Object.entries(headers).flat(),
      responseBody: worlds.journal.keepBody({ held: body, size: body.length }),
      violations: [],
      injection: undefined,
      injected: false,
      keyEvidence: NO_KEY,
      group: undefined,
      failure: undefined,
    }
    worlds.record(entry, undefined, {}, undefined)
  }
}

/** Whether what the client got, or that it got nothing, is the work of a fault. One that only delays changes nothing. */
function isInjected({ injection }: Exchange, reply: Reply | undefined): boolean {
  if (injection === undefined) return false
  if (reply === undefined) return injection.effect !== undefined
  return reply.injected === true
}

/** Of a body that was never read, as of one that is too large, the size is known where it was declared. */
function unreadBody({ headers }: IncomingMessage): Content | undefined {
  const size = Number(headers['content-length'] ?? 0)
  return size > 0 ? { held: NOTHING, size } : undefined
}

/** The draw knows the account. */
function withoutDraw({ draw: _, ...kept }: Injection): Omit<Injection, 'draw'> {
  return kept
}

function foremostFirst<Item>(items: readonly Item[], first: Item): Item[] {
  return [first, ...items.filter((item) => item !== first)]
}
