import { BASE_URL } from './facts.ts'

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
