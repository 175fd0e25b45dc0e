import { type ArrivedRequest, answersUnder, otherSettings } from '../behaviour/counterfactual.ts'
import { secretIn } from '../behaviour/gate.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import type { AccountState } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import { kebab, type Settings } from '../domain/settings.ts'
import { NO_BODY } from '../ground/message.ts'
import { contentOf, type Entry, fieldOf } from '../journal/entry.ts'

/** The plan is no part of a request, so no answer is said to rest on the order of the plans. */
const OF_THE_ACCOUNT = 'plans' satisfies keyof Settings

/**
 * The settings on which a recorded answer rests, in kebab-case: with another value of one of them, its code, reason or
 * data would be different. `states` are possible states of the account, the best one first. Small ones are fast. If the
 * answer comes from none of them, no setting is known.
 */
export function decisiveSettings(entry: Entry, states: Iterable<AccountState>, contract: ServiceContract): string[] {
  const recorded = outcomeOf(entry.code === undefined ? [] : entry.problems)
  const others = otherSettings(contract).filter(({ setting }) => setting !== OF_THE_ACCOUNT)
  for (const state of states) {
    const decisive = new Set<string>()
    let own: string | undefined
    for (const { other, answer } of answersUnder(askedAgain(entry, state), contract, others)) {
      if (other === undefined && outcomeOf(answer.problems) !== recorded) break
      const text = `${outcomeOf(answer.problems)} ${JSON.stringify(answer.data)}`
      if (other === undefined) own = text
      else if (text !== own) decisive.add(kebab(other.setting))
    }
    if (own !== undefined) return [...decisive]
  }
  return []
}

/** A recorded request, as it would come to a state of its account again. */
export function askedAgain(entry: Entry, state: AccountState): ArrivedRequest {
  const { method, target, headers, body, at, keyEvidence, presented } = entry
  return {
    method,
    target,
    headers: {
      'content-type': fieldOf(headers, 'content-type'),
      'content-encoding': fieldOf(headers, 'content-encoding'),
    },
    body: body === undefined ? NO_BODY : contentOf(body),
    hasKey(settings) {
      if (keyEvidence.ordinal > 0) return !keyEvidence.disabled
      const isReadable = secretIn(fieldOf(headers, 'authorization'), settings) !== undefined
      return isReadable && state.keys.some(({ hash, disabled }) => hash === presented && !disabled)
    },
    state,
    now: at,
  }
}

/** `success`, or code and reason of the refusal. */
function outcomeOf([problem]: readonly Problem<string>[]): string {
  return problem === undefined ? 'success' : `${problem.code} ${problem.reason}`
}
