import type { Circumstances } from '../accounts/exchange-log.ts'
import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { Coverage } from '../coverage/coverage.ts'
import { observationOf } from '../coverage/observation.ts'
import { memoize, memoizeWeakly } from '../ground/memo.ts'
import { bytesOf, type Content } from '../http/content.ts'
import type { NewEntry } from '../journal/journal.ts'
import { COMPARED, type ImpoliteKind, Manners } from '../journal/politeness.ts'
import { digestOf } from './exchange-codec.ts'

/** How many accounts, and how many keys, are remembered. The least recently seen ones are forgotten. */
const REMEMBERED = 10_000

/**
 * In milliseconds, how much the times of two servers may differ; the times of one server are rounded. A client that
 * retries at once through another server must not seem to have asked before the answer.
 */
const INEXACT = { own: 1, other: 20 }

/** A body as far as it can be compared: a digest replaces the content. */
type StoredContent = [digest: string, size: number] | null

const NOT_COMPARED: StoredContent = ['', COMPARED + 1]

/** What all servers must know about a request with a key to compare it with others. `ended` is in the store's time. */
export type Wire = [
  ...[key: string, started: number, ended: number, requestBody: StoredContent, responseBody: StoredContent],
  ...[method: string, target: string, operation: string, status: number | null, resetAt: number | null, at: number],
  ...[isInjected: boolean, isRefused: boolean],
]

/** The additional data about an exchange that this server has answered. */
export interface OwnExchange extends Pick<Circumstances, 'query' | 'body' | 'principal'> {
  entry: NewEntry
  wire: Wire | undefined
}

/** An exchange in the order of all servers. */
export interface OrderedExchange {
  account: string | undefined
  incarnation: string
  /** Whether its account had ended before it was recorded. */
  isOrphan: boolean
  wire: Wire | undefined
  /** Present if this server has answered it. */
  own: OwnExchange | undefined
}

/** What an exchange has covered: rules and edges of limits by their names, and the kinds of impolite behaviour. */
export interface Sight {
  shown: readonly string[]
  impolite: readonly ImpoliteKind[]
}

/**
 * Observes the exchanges of all servers in their order. Only the server that answered a request can tell what the
 * request covers. But the requests before it may have come to any server.
 */
export class ExchangeObserver {
  readonly #contract: Contract
  readonly #operations: ReadonlyMap<string, Operation>
  readonly #coverages = new Map<string | undefined, { incarnation: string; coverage: Coverage }>()
  #manners: Manners
  /** The object that stands for each key. */
  readonly #keys = new Map<string, object>()
  readonly #digestOfBody = memoizeWeakly((body: Content): string => digestOf(bytesOf(body)))
  readonly #digestOfTarget = memoize((target: string): string => digestOf(target), { limit: 1_000 })
  #shown: string[] = []

  constructor(contract: Contract, operations: ReadonlyMap<string, Operation>) {
    this.#contract = contract
    this.#operations = operations
    this.#manners = this.#newManners()
  }

  /** The data to compare a request with its neighbours; `undefined` if the request has no valid key. */
  describe(entry: NewEntry, circumstances: Circumstances, now: number): Wire | undefined {
    const { operation, method, target, status = null, injected, code, allowance, at } = entry
    const { principal, history, started, ended, requestBody, responseBody } = circumstances
    if (principal === undefined || operation === undefined) return undefined
    const isRead = operation.id === 'listDmarc' && method === 'GET' && status === operation.success.status && !injected
    return [
      ...([`${history?.incarnation} ${principal.key.id}`, now - (ended - started), now] as const),
      requestBody === undefined ? null : this.#describeBody(requestBody),
      isRead && responseBody !== undefined ? [this.#digestOfBody(responseBody), responseBody.size] : null,
      ...([method, this.#digestOfTarget(target), operation.id, status, allowance?.resetAt ?? null, at] as const),
      ...([injected, code !== undefined] as const),
    ]
  }

  /** Observes the next exchange. */
  look(exchange: OrderedExchange): Sight {
    const { wire, own, isOrphan } = exchange
    const impolite: ImpoliteKind[] = []
    this.#shown = []
    if (wire !== undefined) this.#compare(wire, own === undefined ? INEXACT.other : INEXACT.own, impolite)
    if (!isOrphan) this.#observe(exchange)
    return { shown: this.#shown, impolite }
  }

  /** Forgets an account that has ended or was reset. */
  forget(accountId: string): void {
    this.#coverages.delete(accountId)
  }

  restart(): void {
    this.#coverages.clear()
    this.#keys.clear()
    this.#manners = this.#newManners()
  }

  #newManners(): Manners {
    // Here, a body is a digest.
    return new Manners(this.#contract.settings.refresh, (body) => ({ deref: () => body }))
  }

  /** A longer body, or an unread one, is never compared. */
  #describeBody(body: Content): StoredContent {
    return body.size > COMPARED ? NOT_COMPARED : [this.#digestOfBody(body), body.size]
  }

  #compare(wire: Wire, inexact: number, impolite: ImpoliteKind[]): void {
    const [key, started, ended, requestBody, responseBody, method, target, operation, status, resetAt, at, injected] =
      wire
    const conduct = {
      ...{ method, target, at, injected, operation: this.#operations.get(operation), status: status ?? undefined },
      allowance: resetAt === null ? undefined : { resetAt },
    }
    const bodies = { requestBody: restore(requestBody), responseBody: restore(responseBody) }
    const standIn = this.#keys.get(key) ?? {}
    remember(this.#keys, key, standIn)
    this.#manners.look(conduct, standIn, { started, ended: ended - inexact, ...bodies }, (kind) => impolite.push(kind))
  }

  #observe({ account, incarnation, wire, own }: OrderedExchange): void {
    if (own !== undefined) {
      const { entry, query, body } = own
      if (entry.status === undefined) return
      this.#coverageOf(account, incarnation).observe(observationOf(entry, entry.status, query, body))
    } else if (wire !== undefined) {
      const [, , , , , , , id, status, , at, isInjected, isRefused] = wire
      const operation = this.#operations.get(id)
      if (status === null || isInjected || isRefused || operation === undefined) return
      this.#coverageOf(account, incarnation).noteSuccess(operation, at)
    }
  }

  /** Shows what is covered for the first time, and how often an operation has succeeded. The store counts. */
  #coverageOf(account: string | undefined, incarnation: string): Coverage {
    const known = this.#coverages.get(account)
    if (known?.incarnation === incarnation) {
      remember(this.#coverages, account, known)
      return known.coverage
    }
    const coverage = new Coverage(this.#contract, (item) => this.#shown.push(item))
    remember(this.#coverages, account, { incarnation, coverage })
    return coverage
  }
}

function restore(body: StoredContent): Content | undefined {
  return body === null ? undefined : { held: body[0], size: body[1] }
}

/** Moves an entry to the end of a map that drops its oldest entries. */
function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= REMEMBERED) return
  const [oldest] = map.keys()
  map.delete(oldest as Key)
}
