import { type Content, textOf } from '../http/content.ts'
import { queryOf } from '../http/target.ts'
import { readableBody } from './description.ts'
import type { Entry } from './entry.ts'
import type { Journal } from './journal.ts'
import { type Redact, redactQuery } from './redaction/redaction.ts'

/** How many words a search can have. */
export const SEARCHED_WORDS = 10
/** What stands for a secret is no word of the exchange. */
const PLACEHOLDER = /(?:key_\w+\.)?\[redacted\]/g

/** The words of a search, each once. Capital and small letters are equal. */
export function wordsIn(text: string): string[] {
  return [...new Set(text.toLowerCase().split(/\s+/).filter(Boolean))]
}

/**
 * Creates the function that tells whether an exchange contains all words, as the journal shows it. Most exchanges lack a
 * word, also with their secrets. So only the others are described, which takes much longer.
 */
export function findWords(words: readonly string[], journal: Pick<Journal, 'redactorFor'>): (entry: Entry) => boolean {
  /** Many exchanges share a body. */
  const found = new WeakMap<Content, ReadonlySet<string>>()

  function wordsOfBody(body: Content): ReadonlySet<string> {
    let known = found.get(body)
    if (known === undefined) {
      const text = textOf(body).toLowerCase()
      known = new Set(words.filter((word) => text.includes(word)))
      found.set(body, known)
    }
    return known
  }

  const has = (body: Content | undefined, word: string) => body !== undefined && wordsOfBody(body).has(word)

  return (entry) => {
    const facts = factsOf(entry)
    const left = words.filter((word) => !facts.includes(word))
    if (left.length === 0) return true
    const { method, target, body, responseBody } = entry
    const line = `${method} ${target}`.toLowerCase()
    const isAbsent = (word: string) => !line.includes(word) && !has(body, word) && !has(responseBody, word)
    if (left.some(isAbsent)) return false
    const shown = shownParts(entry, journal.redactorFor(entry))
    return left.every(
      (word) =>
        (line.includes(word) && shown.line().includes(word)) ||
        (has(responseBody, word) && shown.responseBody().includes(word)) ||
        (has(body, word) && shown.body().includes(word)),
    )
  }
}

/** What contains no secret. */
function factsOf({ status, code, operation, requestId, injected, injection, violatesContract, violations }: Entry) {
  const isViolation = violatesContract || violations.length > 0
  const words = [
    status === undefined ? 'no response' : `${status} ${Math.floor(status / 100)}xx`,
    ...[code, operation?.id, requestId],
    ...[injected && 'injected', injection !== undefined && 'fault', isViolation && 'violation'],
  ]
  return words.filter(Boolean).join(' ').toLowerCase()
}

/** The other parts without secrets. Each is made when it is needed, and once. */
function shownParts({ method, path, target, body, responseBody }: Entry, redact: Redact) {
  const show = (write: () => string) => once(() => write().replaceAll(PLACEHOLDER, ' ').toLowerCase())
  const showBody = (each: Content | undefined) => show(() => (each === undefined ? '' : readableBody(each, redact)))
  return {
    line: show(() => {
      const query = queryOf(target)
      return `${redact(method)} ${redact(path)}${query === '' ? '' : `?${redactQuery(query, redact)}`}`
    }),
    body: showBody(body),
    responseBody: showBody(responseBody),
  }
}

function once(make: () => string): () => string {
  let made: string | undefined
  return () => (made ??= make())
}
