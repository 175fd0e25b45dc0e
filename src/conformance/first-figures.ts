import type { Knowledge } from '../choices/knowledge.ts'
import type { Assignment } from '../choices/observation.ts'
import type { Variants } from '../choices/variants.ts'
import { firstReportingDay, refreshOf } from '../domain/dmarc.ts'
import { comparable } from '../exchanges/purpose.ts'
import { isObject, type Json } from '../ground/json.ts'

/** In milliseconds: a domain may have been added this long before the time of its response. */
const EARLIER = 5_000
/** In milliseconds: the Date of a response is a whole second, so the real time may be this much later. */
const LATER = 1_000

/**
 * What records say about the time at which new domains get their figures. A domain with figures was processed before a
 * refresh. A domain with a policy may also show the policy that it publishes. A record without figures says nothing,
 * because a domain may have no mail. `now` is on the service's clock, in milliseconds.
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
  ) as [PossibleValues, PossibleValues, PossibleValues]
  const times = refresh.values.flatMap((time, number) =>
    processing.values.map((seconds, other) => {
      const first = firstReportingDay({ addedAt }, { processingTime: Number(seconds), refresh: String(time) })
      const isOver = refreshOf(first, String(time)) <= now
      return { assignment: { [refresh.id]: number, [processing.id]: other }, isOver }
    }),
  )
  // Once the first refresh is over under every choice, the policy says nothing about the time before it.
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

type PossibleValues = NonNullable<ReturnType<Variants['choicesOf']>>

function hasMail(record: Json): boolean {
  return ['count', 'dmarc', 'dkim', 'spf'].some((name) => Number(record[name]) > 0)
}

function hasPolicy(record: Json): boolean {
  return ['p', 'sp', 'np'].some((name) => record[name] === 'quarantine' || record[name] === 'reject')
}
