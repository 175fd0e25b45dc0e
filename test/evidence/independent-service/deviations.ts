import { CHANGES } from './deviations/changes.ts'
import type { Deviation } from './deviations/deviation.ts'
import { DOMAINS } from './deviations/domains.ts'
import { ENVELOPE } from './deviations/envelope.ts'
import { GROUPS } from './deviations/groups.ts'
import { KEYS } from './deviations/keys.ts'
import { QUOTAS } from './deviations/quotas.ts'
import { RECORDS } from './deviations/records.ts'

/** All that the independent service can do wrong, and some that the specification permits but is not our choice. */
export const DEVIATIONS: readonly Deviation[] = [
  ...ENVELOPE,
  ...QUOTAS,
  ...KEYS,
  ...DOMAINS,
  ...RECORDS,
  ...GROUPS,
  ...CHANGES,
]

/** A name that is none is a mistake of the test. */
export function deviationOf(id: string): Deviation {
  const found = DEVIATIONS.find((deviation) => deviation.id === id)
  if (found === undefined) throw new Error(`There is no deviation ${id}.`)
  return found
}
