import { firstReportingDay, refreshOf } from '../domain/dmarc.ts'
import { isObject, type Json } from '../ground/json.ts'
import type { Knowledge } from './knowledge.ts'
import type { Assignment } from './observation.ts'
import { comparable } from './purpose.ts'
import type { Variants } from './variants.ts'

/** In milliseconds, how much earlier than its response tells a domain may have been added. */
const EARLIER = 5_000
/** In milliseconds: the time of a response is that of a whole second. */
const LATER = 1_000

/**
 * What records say of the time at which new domains get their figures: a domain that has some was processed before a
 * refresh, and one that has a policy may also show the one that it publishes. Records without figures say nothing, because
 * a domain may have no mail. `now` is on the service's clock, in milliseconds.
 */
export function observeFirstFigures(
  records: readonly unknown[],
  { domains }: Pick<Knowledge, 'domains'>,
  now: number,
  variants: Pick<Variants, 'choicesOf'>,
): (readonly Assignment[])[] {
  const observed = new Map<string, readonly Assignment[]>()
  for (const record of records) {
    if (!isObject(record) || typeof record['domain'] !== 'string') continue
    const addedAt = domains.get(comparable(record['domain']))?.addedAt
    const [isCounted, isNamed] = [hasMail(record), hasPolicy(record)]
    if (addedAt === undefined || !(isCounted || isNamed)) continue
    const { allowed, all } = possibilities(addedAt - EARLIER, now + LATER, !isCounted, variants)
    if (allowed.length > 0 && allowed.length < all) observed.set(JSON.stringify(allowed), allowed)
  }
  return [...observed.values()]
}

function possibilities(
  addedAt: number,
  now: number,
  isPolicyAlone: boolean,
  variants: Pick<Variants, 'choicesOf'>,
): { allowed: readonly Assignment[]; all: number } {
  const [refresh, processing, before] = (['refresh', 'processingTime', 'policyBeforeRefresh'] as const).map(
    (setting) => variants.choicesOf(setting) ?? { id: '', values: [] },
  ) as [Choices, Choices, Choices]
  const times = refresh.values.flatMap((time, number) =>
    processing.values.map((seconds, other) => {
      const first = firstReportingDay(addedAt, Number(seconds), String(time))
      const isOver = refreshOf(first, String(time)) <= now
      return { assignment: { [refresh.id]: number, [processing.id]: other }, isOver }
    }),
  )
  // Once the first refresh is over under every choice, the policy says nothing of what it was before.
  if (!isPolicyAlone || times.every(({ isOver }) => isOver)) {
    return { allowed: times.filter(({ isOver }) => isOver).map(({ assignment }) => assignment), all: times.length }
  }
  const all = times.flatMap(({ assignment, isOver }) =>
    before.values.map((value, number) => ({
      assignment: { ...assignment, [before.id]: number },
      isPossible: isOver || value === 'published',
    })),
  )
  const allowed = all.filter(({ isPossible }) => isPossible).map(({ assignment }) => assignment)
  return { allowed, all: all.length }
}

type Choices = NonNullable<ReturnType<Variants['choicesOf']>>

function hasMail(record: Json): boolean {
  return ['count', 'dmarc', 'dkim', 'spf'].some((name) => Number(record[name]) > 0)
}

function hasPolicy(record: Json): boolean {
  return ['p', 'sp', 'np'].some((name) => record[name] === 'quarantine' || record[name] === 'reject')
}
