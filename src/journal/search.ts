import { memoizeWeakly } from '../ground/memo.ts'
import { queryOf } from '../ground/target.ts'
import { type Entry, type RecordedBody, textOf } from './entry.ts'

/** How many words a search can have. */
export const SEARCHED_WORDS = 10
/** What stands for a secret is no word of the exchange. */
const PLACEHOLDER = /(?:key_\w+\.)?\[redacted\]/g

/** The words of a search, each once. Capital and small letters are equal. */
export function wordsIn(text: string): string[] {
  return [...new Set(text.toLowerCase().split(/\s+/).filter(Boolean))]
}

/** Creates the function that tells whether an exchange contains all words. */
export function findWords(words: readonly string[]): (entry: Entry) => boolean {
  const written = (text: string) => text.replaceAll(PLACEHOLDER, ' ').toLowerCase()
  // Many exchanges share a body.
  const writtenBody = memoizeWeakly((body: RecordedBody) => written(textOf(body)))
  return (entry) => {
    const { method, path, target, body, responseBody } = entry
    const line = written(`${factsOf(entry)} ${method} ${path}?${queryOf(target)}`)
    const has = (each: RecordedBody | undefined, word: string) => each !== undefined && writtenBody(each).includes(word)
    return words.every((word) => line.includes(word) || has(responseBody, word) || has(body, word))
  }
}

function factsOf({ status, code, operation, requestId, injected, injection, violatesContract, violations }: Entry) {
  const isViolation = violatesContract || violations.length > 0
  const words = [
    status === undefined ? 'no response' : `${status} ${Math.floor(status / 100)}xx`,
    ...[code, operation, requestId],
    ...[injected && 'injected', injection !== undefined && 'fault', isViolation && 'violation'],
  ]
  return words.filter(Boolean).join(' ')
}
