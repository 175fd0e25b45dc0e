import { PAUSE, type Work } from '../ground/work.ts'

/** A thing that an account holds, such as a domain. */
export interface Holding {
  /** How a person calls it. */
  name: string
  /** How the same thing is found on the other side. */
  key: string
  /** Its fields. Two things are alike if all of these are equal. Ids and times are no part of it. */
  meaning: Readonly<Record<string, unknown>>
}

/** The fields of a thing that a list of differences shows. */
export type ListedHolding = Readonly<Record<string, unknown>>

/** One difference. A side is null if it does not hold the thing. `fields` names what differs if both do. */
interface ListedDifference {
  name: string
  fields: string[]
  one: ListedHolding | null
  other: ListedHolding | null
}

/** All differences of one kind: their number, and the first of them. */
interface Differences {
  count: number
  listed: ListedDifference[]
}

/** A list of things that two sides hold, compared. */
export interface ListComparison {
  alike: number
  different: Differences
  only_in_one: Differences
  only_in_other: Differences
}

/** The maximum of listed differences of each kind, as a number, and approximately in bytes. */
export interface ListLimits {
  limit: number
  bytes: number
}

export interface ListTerms<Item> extends ListLimits {
  /** The form in which a difference shows a thing. `counterpart` is the thing on the other side, if it is there. */
  describe(item: Item, counterpart: Item | undefined): ListedHolding
}

/** The number of compared things after which the work pauses. The figures of a domain cost more than a usual item. */
const STEP = PAUSE / 4

/** Compares two lists of things. It is work that can pause, and reads each thing when it is compared. */
export function* compareLists<Item extends Holding>(
  one: Iterable<Item>,
  other: Iterable<Item>,
  { limit, bytes, describe }: ListTerms<Item>,
): Work<ListComparison> {
  const others = yield* indexed(other)
  const sizes = new Map<Differences, number>()
  const comparison: ListComparison = { alike: 0, different: none(), only_in_one: none(), only_in_other: none() }
  for (const [key, item] of yield* indexed(one)) {
    const counterpart = others.get(key)
    others.delete(key)
    const fields = counterpart === undefined ? [] : differingFields(item, counterpart)
    if (counterpart === undefined) note(comparison.only_in_one, () => listed(item.name, [], describe(item, undefined)))
    else if (fields.length === 0) comparison.alike++
    else {
      const { different } = comparison
      note(different, () => listed(item.name, fields, describe(item, counterpart), describe(counterpart, item)))
    }
  }
  for (const item of others.values()) {
    note(comparison.only_in_other, () => listed(item.name, [], null, describe(item, undefined)))
  }
  return comparison

  function note(differences: Differences, write: () => ListedDifference): void {
    const size = sizes.get(differences) ?? 0
    if (differences.count++ >= limit || size > bytes) return
    const difference = write()
    sizes.set(differences, size + JSON.stringify(difference).length)
    differences.listed.push(difference)
  }
}

/** Whether the sides hold the same. */
export function isAlike({ different, only_in_one, only_in_other }: ListComparison): boolean {
  return different.count + only_in_one.count + only_in_other.count === 0
}

function none(): Differences {
  return { count: 0, listed: [] }
}

function listed(
  name: string,
  fields: string[],
  one: ListedHolding | null,
  other: ListedHolding | null = null,
): ListedDifference {
  return { name, fields, one, other }
}

/** The things by key. Things with the same key are numbered, so each has at most one counterpart. */
function* indexed<Item extends Holding>(items: Iterable<Item>): Work<Map<string, Item>> {
  const index = new Map<string, Item>()
  const repeats = new Map<string, number>()
  let steps = 0
  for (const item of items) {
    if (++steps % STEP === 0) yield
    const times = (repeats.get(item.key) ?? 0) + 1
    repeats.set(item.key, times)
    index.set(times === 1 ? item.key : `${item.key}\n${times}`, item)
  }
  return index
}

function differingFields(one: Holding, other: Holding): string[] {
  return Object.keys(one.meaning).filter((field) => !isEqual(one.meaning[field], other.meaning[field]))
}

function isEqual(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
