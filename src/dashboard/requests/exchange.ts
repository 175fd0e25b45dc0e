import type { JournalEntry } from '../responses.ts'

/** The path and the query, as in a request line. */
export function targetOf({ path, query }: Pick<JournalEntry, 'path' | 'query'>): string {
  return query === '' ? path : `${path}?${query}`
}

/** Whether a request is a write that succeeded, or whose result is unknown because its response was lost. */
export function mayHaveChanged({ method, status }: Pick<JournalEntry, 'method' | 'status'>): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  return status === null || (status >= 200 && status < 300)
}
