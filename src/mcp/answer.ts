import { type Json, pointTo, valueAt, writeJson } from '../ground/json.ts'
import { shorten, show } from '../ground/show.ts'
import { refuseArgument } from '../library/control-error.ts'

/** Which part of an answer is wanted, and how many characters at most. */
export const EXTENT: Json = {
  part: { type: 'string', description: 'JSON pointer: only this part of the answer.' },
  max_characters: { type: 'integer', minimum: 1_000, maximum: 200_000, description: 'By default 16000.' },
}

/** How many items of a list remain, from the most generous measure on. */
const MEASURES = [500, 200, 100, 50, 20, 10, 5, 2, 1] as const

/**
 * The answer as JSON. If it is too long, its longest lists and texts are cut, and `left_out` has pointers to them.
 * @throws ControlError if there is no such part
 */
export function writeAnswer(whole: unknown, args: Json): string {
  const { part = '', max_characters: most = 16_000 } = args
  if (!Number.isInteger(most) || Number(most) < 1_000 || Number(most) > 200_000) {
    throw refuseArgument(
      'max_characters',
      `max_characters must be a whole number from 1000 to 200000, not ${show(most)}.`,
    )
  }
  const value = findPart(whole, part)
  if (typeof value === 'string') return shorten(value, Number(most))
  const text = writeJson(value) ?? 'null'
  if (text.length <= Number(most)) return text
  for (const items of MEASURES) {
    const leftOut: string[] = []
    const cut = shrink(value, `${part}`, items, leftOut)
    const note = `ask again with part, such as ${leftOut[0]}, or with another limit`
    const short = writeJson({ answer: cut, left_out: leftOut.slice(0, 20), note }) ?? ''
    if (short.length <= Number(most)) return short
  }
  return shorten(text, Number(most))
}

function findPart(whole: unknown, part: unknown): unknown {
  if (part === '') return whole
  const value = typeof part === 'string' && part.startsWith('/') ? valueAt(whole, part) : undefined
  if (value !== undefined) return value
  const parts = typeof whole === 'object' && whole !== null ? Object.keys(whole).map((key) => pointTo('', key)) : []
  throw refuseArgument(
    'part',
    `part is ${show(part)}, but must be a JSON pointer into the answer, which has ${shorten(parts.join(', '), 300)}.`,
  )
}

/** A copy with shorter lists and texts. */
function shrink(value: unknown, at: string, items: number, leftOut: string[]): unknown {
  const text = items > 5 ? 500 : 100
  if (typeof value === 'string' && value.length > text) {
    leftOut.push(at)
    return shorten(value, text)
  }
  if (typeof value !== 'object' || value === null) return value
  if (!Array.isArray(value)) {
    const entries = Object.entries(value)
    return Object.fromEntries(entries.map(([key, each]) => [key, shrink(each, pointTo(at, key), items, leftOut)]))
  }
  if (value.length > items) leftOut.push(at)
  return value.slice(0, items).map((each, index) => shrink(each, pointTo(at, index), items, leftOut))
}
