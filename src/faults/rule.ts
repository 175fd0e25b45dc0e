import type { AccountState } from '../domain/account.ts'
import type { TriggeredFault } from '../domain/faults.ts'
import { chanceOfFault } from '../ground/chance.ts'
import type { Injection } from './injection.ts'

/** The injection that a fault rule of the account asks for. */
export function ruleInjection({ fault: { id, rule }, ordinal }: TriggeredFault, account: AccountState): Injection {
  const [, chance] = chanceOfFault(account, id, ordinal)
  return { source: 'rule', id, rule, chance, preference: undefined, domain: undefined }
}
