import { targetOf } from '../request-lines.ts'
import type { JournalEntry } from '../responses.ts'

/** An exchange without its headers and bodies, which can be large. */
export interface ListedRequest
  extends Omit<JournalEntry, 'key' | 'fault' | 'problems' | 'violations' | 'quota' | 'request' | 'response'> {
  /** The effect of a fault on the response, in words. */
  fault: string | null
  /** Whether the response violates the contract. */
  breach: boolean
  /** Whether the row may be highlighted when it is drawn. */
  fresh?: boolean
}

/** The filter for the server. The page itself searches for words in the loaded requests. */
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
  return { ...listed, fault: fault && (fault.effect ?? ''), breach: violations.length > 0 }
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

/** The requests that contain every word, such as `post 4xx invalid_domain injected`. */
export function findWords(entries: readonly ListedRequest[], text: string): readonly ListedRequest[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return entries
  return entries.filter((entry) => {
    const words = wordsFor(entry)
    return wanted.every((word) => words.includes(word))
  })
}

function isRefused({ status }: ListedRequest): boolean {
  return status !== null && status >= 400
}

function wordsFor(entry: ListedRequest): string {
  const { method, status, code, operation, account, request_id } = entry
  const statuses = status === null ? ['no response'] : [status, `${String(status)[0]}xx`]
  const marks = [entry.injected && 'injected', entry.fault !== null && 'fault', entry.violates_contract && 'violation']
  const words = [method, targetOf(entry), ...statuses, code, operation, ...marks, account ?? 'no account', request_id]
  return words.filter(Boolean).join(' ').toLowerCase()
}
