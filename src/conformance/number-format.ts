import type { Operation } from '../contract/api.ts'
import { isObject, valueAt } from '../ground/json.ts'

/** A percentage of a record, as its response writes it. */
export interface WrittenNumber {
  text: string
  value: number
  /** The number of messages that the percentage is about. */
  count: number
}

/** How many numbers must agree before they count as evidence. By chance, that happens once in 10¹² responses. */
const AGREEING = 12
/** How far the parser of numbers and the rounding of the service may differ. */
const EPSILON = 1e-9

/** All percentages in a list of records; empty if the text cannot be matched with the records. */
export function numbersIn(text: string, body: unknown, { success }: Operation): readonly WrittenNumber[] {
  const properties = valueAt(success.schema, '/properties/data/items/properties')
  const records = valueAt(body, '/data')
  if (!isObject(properties) || !Array.isArray(records)) return []
  const names = Object.entries(properties).filter(
    ([, schema]) => isObject(schema) && schema['multipleOf'] !== undefined,
  )
  return names.flatMap(([name]) => {
    // A quotation mark within a JSON string is escaped, so this matches only at the field itself.
    const texts = [...text.matchAll(new RegExp(`"${name}"\\s*:\\s*(-?[0-9.eE+-]+)`, 'g'))].map(
      ([, number = '']) => number,
    )
    if (texts.length !== records.length) return []
    return texts.map((number, index) => ({
      text: number,
      value: Number(number),
      count: Number(valueAt(records[index], '/count')),
    }))
  })
}

/** Whether a service that rounds to the step writes numbers like these. */
export function acceptsNotation(numbers: readonly WrittenNumber[], decimals: string, step: number): boolean {
  const places = Math.max(0, Math.round(-Math.log10(step)))
  return numbers.every(({ text, value }) => {
    return isMultiple(value, step) && text === (decimals === 'kept' ? value.toFixed(places) : String(value))
  })
}

/**
 * Whether a service certainly does not round to `step`, because all numbers are multiples of a coarser one of `steps`.
 * A number counts only if the finer step would have shown with a probability of 90 %. Either no share of `count`
 * messages is that round, or `count` is enough for every multiple of the finer step.
 */
export function isToldApart(numbers: readonly WrittenNumber[], step: number, steps: ReadonlySet<number>): boolean {
  const isCoarser = [...steps].some((each) => each > step && numbers.every(({ value }) => isMultiple(value, each)))
  if (!isCoarser) return false
  const telling = numbers.filter((number) => isTelling(number, step))
  return new Set(telling.map(({ value, count }) => `${value} ${count}`)).size >= AGREEING
}

function isTelling({ value, count }: WrittenNumber, step: number): boolean {
  if (!Number.isInteger(count) || count <= 0 || value <= 0 || value >= 100) return false
  const messages = Math.round((value * count) / 100)
  const isExact = Math.abs((100 * messages) / count - value) <= step / 2 + EPSILON
  return !isExact || count >= 100 / step
}

function isMultiple(value: number, step: number): boolean {
  return Math.abs(Math.round(value / step) * step - value) < EPSILON
}
