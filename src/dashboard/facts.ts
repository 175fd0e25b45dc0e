import type { CallId, Schemas } from './responses.ts'

/** What there is to choose from, and how the control plane is called: the server writes into the page what it answers to GET /about. */
export const FACTS: Schemas['About'] = JSON.parse(document.getElementById('facts')?.textContent ?? '{}')
export const BASE_URL = location.origin + FACTS.base_path

/** Whether the server offers an operation. A proxy offers few, because it knows only requests. */
export function isOffered(id: CallId): boolean {
  return FACTS.control.some((operation) => operation.id === id)
}

/** Whether the server simulates the service and so has accounts to change. A proxy only observes a service. */
export const PLAYS_SERVICE = isOffered('createAccount')

/** Quotes a text as one word of a POSIX shell. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A command that gets a path of the service with the key, or with a variable if the key is secret. */
export function curlOf(path: string, key: string | null): string {
  // The shell expands variables only in double quotes.
  const field = key === null ? '"Authorization: Bearer $API_KEY"' : quoteWord(`Authorization: Bearer ${key}`)
  return `curl -sS -H ${field} ${BASE_URL}${path}`
}
