import type { AccountState } from './account.ts'
import type { Problem } from './errors.ts'
import { kebab, type Settings } from './settings.ts'

type CapName = 'domainCap' | 'groupCap' | 'memberCap'

/** The problems if the account cannot have `count` of the capped items. */
export function capProblems(
  count: number,
  name: CapName,
  field: string,
  { plan }: Pick<AccountState, 'plan'>,
  settings: Pick<Settings, CapName>,
): Problem[] {
  const limit = settings[name]
  if (limit === 'none' || count <= limit) return []
  return [{ code: 'unauthorized', reason: kebab(name), field, value: count, about: { plan, limit, count } }]
}
