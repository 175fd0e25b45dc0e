import type { JournalEntry } from '../responses.ts'

/** An exchange without its headers and bodies, which can be large. */
export interface ListedRequest
  extends Omit<JournalEntry, 'key' | 'fault' | 'problems' | 'violations' | 'quota' | 'request' | 'response'> {
  fault: string | null
  /** Whether the service did something wrong. */
  breach: boolean
  /** Whether the row may be highlighted when it is drawn. */
  fresh?: boolean
}

/** The filter for the server, besides words. */
export interface Conditions {
  violation: boolean
  injected: boolean
  refused: boolean
  /** Empty means all operations. */
  operation: string
}

export const NO_CONDITIONS: Conditions = { violation: false, injected: false, refused: false, operation: '' }

export function toListed(entry: JournalEntry): ListedRequest {
  const { key, fault, problems, violations, quota, request, response, ...listed } = entry
  return { ...listed, fault: fault && (fault.effect ?? ''), breach: violations.some(({ by }) => by !== 'client') }
}

/** Whether a request meets the conditions. The server uses the same rules. */
export function meets(entry: ListedRequest, { violation, injected, refused, operation }: Conditions): boolean {
  return (
    !(violation && !entry.violates_contract && !entry.breach) &&
    !(injected && !entry.injected) &&
    !(refused && !isRefused(entry)) &&
    (operation === '' || entry.operation === operation)
  )
}

/** Whether a request contains every word, such as `post`, `4xx` and `injected`. The server uses the same rules. */
export function containsAll(entry: JournalEntry, words: readonly string[]): boolean {
  if (words.length === 0) return true
  const text = textFor(entry)
  return words.every((word) => text.includes(word))
}

function isRefused({ status }: ListedRequest): boolean {
  return status !== null && status >= 400
}

/** What stands for a secret is no word. */
const PLACEHOLDER = /(?:key_\w+\.)?\[redacted\]/g

function textFor(entry: JournalEntry): string {
  const { method, status, code, operation, request_id, request, response } = entry
  const statuses = status === null ? ['no response'] : [status, `${String(status)[0]}xx`]
  const isViolation = entry.violates_contract || entry.violations.length > 0
  const marks = [entry.injected && 'injected', entry.fault !== null && 'fault', isViolation && 'violation']
  const words = [
    method,
    targetOf(entry),
    ...statuses,
    code,
    operation,
    request_id,
    ...marks,
    request.body,
    response.body,
  ]
  return words.filter(Boolean).join('\n').replaceAll(PLACEHOLDER, ' ').toLowerCase()
}

/** How many requests are shown at most. The journal has the others. */
export const MOST_REQUESTS = 300

/** The newest requests of a fast stream. Adding one has a constant cost. */
export class Newest {
  /** The oldest is first. It may have twice as many entries as are shown, so that it rarely must be shortened. */
  #entries: ListedRequest[] = []

  /** Replaces all entries. The newest must be first. */
  replace(entries: readonly ListedRequest[]): void {
    this.#entries = [...entries].reverse()
  }

  add(entry: ListedRequest): void {
    if (this.#entries.length >= 2 * MOST_REQUESTS) this.#entries = this.#entries.slice(-MOST_REQUESTS)
    this.#entries.push(entry)
  }

  list(): readonly ListedRequest[] {
    return this.#entries.slice(-MOST_REQUESTS).reverse()
  }

  get ordinal(): number {
    return this.#entries.at(-1)?.ordinal ?? 0
  }
}

/** The path and the query, as in a request line. */
export function targetOf({ path, query }: Pick<JournalEntry, 'path' | 'query'>): string {
  return query === '' ? path : `${path}?${query}`
}

/** Whether a request is a write that succeeded, or whose result is unknown because its response was lost. */
export function mayHaveChanged({ method, status }: Pick<JournalEntry, 'method' | 'status'>): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  return status === null || (status >= 200 && status < 300)
}
