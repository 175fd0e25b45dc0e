import type { Operation } from '../contract/api.ts'
import type { AccountState } from '../domain/account.ts'
import type { FaultStrike, FaultTarget } from '../domain/faults.ts'
import type { ApiKey } from '../domain/keys.ts'
import { fraction, scramble, type Words, wordsOf } from '../ground/chance.ts'
import type { Injection } from '../journal/entry.ts'

/** A request as fault rules ask for it. */
export function targetOf(operation: Operation, method: string, key: ApiKey): FaultTarget {
  return {
    operation: operation.id,
    method,
    path: operation.path,
    key: key.id,
    answersWith: (code) => answersWith(operation, code),
  }
}

/** The chance of an account's fault rules: depends on its seed and id, the rule, and the ordinal of the request. */
export function drawFor(account: AccountState): (fault: { id: string }, ordinal: number) => number {
  return ({ id }, ordinal) => fraction(wordsFor(account, id, ordinal)[0])
}

/** What the strike of a rule does to the request. */
export function injectionOf({ fault: { id, rule }, ordinal }: FaultStrike, account: AccountState): Injection {
  const [, second] = wordsFor(account, id, ordinal)
  let draws = 0
  return { source: 'rule', id, rule, draw: () => fraction(scramble(second + ++draws)) }
}

function wordsFor({ seed, id: account }: AccountState, rule: string, ordinal: number): Words {
  return wordsOf(`${seed} ${account} ${rule} ${ordinal}`)
}

/** Whether the contract lets an operation answer with a code. */
export function answersWith({ responses }: Operation, code: string): boolean {
  for (const { codes } of responses.values()) if (codes.has(code)) return true
  return false
}
