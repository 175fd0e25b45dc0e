import type { Circumstances } from '../accounts/exchange-log.ts'
import type { Contract } from '../contract/contract.ts'
import { Coverage } from '../coverage/coverage.ts'
import { observationOf } from '../coverage/observation.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import { bytesOf, type Content } from '../http/content.ts'
import type { Entry } from '../journal/entry.ts'
import type { NewEntry } from '../journal/journal.ts'
import { COMPARED, type ImpoliteKind, Manners, type WireEvidence } from '../journal/politeness.ts'
import { digestOf } from './exchange-codec.ts'

/** How many accounts, and how many keys, are remembered. The least recently seen ones are forgotten. */
export const REMEMBERED = 10_000

/**
 * In milliseconds, how much the times of two replicas may differ; the times of one replica are rounded. A client that
 * retries at once through another replica must not seem to have asked before the answer.
 */
const INEXACT = { own: 1, other: 20 }

/** A body as far as it can be compared: a digest replaces the content. */
type StoredContent = [digest: string, size: number] | null

/** The wire data of a request with a key, for all replicas. Times are those of the store. */
type WireTimes = [
  ...[key: string, started: number, ended: number, target: string],
  ...[requestBody: StoredContent, responseBody: StoredContent],
]

/** The additional data about an exchange that this replica has answered. */
export interface OwnExchange {
  entry: NewEntry
  circumstances: Circumstances
}

/** What an exchange has covered: rules and edges of limits by their names, and the kinds of impolite behaviour. */
export interface Sight {
  shown: readonly string[]
  impolite: readonly ImpoliteKind[]
}

/**
 * Observes the exchanges of all replicas in their order. Only the replica that answered a request can tell what the
 * request covers. But the requests before it may have come to any replica.
 */
export class ExchangeObserver {
  readonly #contract: Contract
  readonly #coverages = new Map<string | undefined, { incarnation: string; coverage: Coverage }>()
  #manners: Manners
  /** The object that stands for each key. */
  readonly #keys = new Map<string, object>()
  readonly #digestOf = memoizeWeakly((body: Content): string => digestOf(bytesOf(body)))
  #shown: string[] = []

  constructor(contract: Contract) {
    this.#contract = contract
    this.#manners = this.#newManners()
  }

  /** The data to compare a request with its neighbours; `undefined` if the request has no valid key. */
  describeWire(entry: NewEntry, circumstances: Circumstances, now: number): string | undefined {
    const { operation, method, target, status, injected } = entry
    const { principal, history, started, ended, requestBody, responseBody } = circumstances
    if (principal === undefined || operation === undefined) return undefined
    const isRead = operation.id === 'listDmarc' && method === 'GET' && status === operation.success.status && !injected
    const wire: WireTimes = [
      ...([`${history?.incarnation} ${principal.key.id}`, now - (ended - started), now] as const),
      digestOf(target),
      requestBody === undefined ? null : this.#describe(requestBody),
      isRead && responseBody !== undefined ? [this.#digestOf(responseBody), responseBody.size] : null,
    ]
    return JSON.stringify(wire)
  }

  /** Observes the next exchange. `own` is present if this replica has answered it. */
  look(
    entry: Entry,
    about: { account: string | undefined; incarnation: string; isOrphan: boolean },
    wire: string | undefined,
    own: OwnExchange | undefined,
  ): Sight {
    const impolite: ImpoliteKind[] = []
    const inexact = own === undefined ? INEXACT.other : INEXACT.own
    if (wire !== undefined) this.#compare(entry, JSON.parse(wire) as WireTimes, inexact, (kind) => impolite.push(kind))
    this.#shown = []
    if (!about.isOrphan) this.#observe(entry, about, own)
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

  /** A longer body is never compared. */
  #describe(body: Content): StoredContent {
    return body.size > COMPARED ? ['', body.size] : [this.#digestOf(body), body.size]
  }

  #compare(entry: Entry, wire: WireTimes, inexact: number, note: (kind: ImpoliteKind) => void): void {
    const [key, started, ended, target, requestBody, responseBody] = wire
    const evidence: WireEvidence = {
      started,
      ended: ended - inexact,
      requestBody: restore(requestBody),
      responseBody: restore(responseBody),
    }
    const standIn = this.#keys.get(key) ?? {}
    remember(this.#keys, key, standIn)
    this.#manners.look({ ...entry, target }, standIn, evidence, note)
  }

  #observe(
    entry: Entry,
    { account, incarnation }: { account: string | undefined; incarnation: string },
    own: OwnExchange | undefined,
  ): void {
    const { status, code, operation, injected, at } = entry
    if (status === undefined) return
    if (own === undefined) {
      if (operation === undefined || code !== undefined || injected) return
      this.#coverageOf(account, incarnation).noteSuccess(operation, at)
      return
    }
    const { query, body } = own.circumstances
    this.#coverageOf(account, incarnation).observe(observationOf(own.entry, status, query, body))
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
