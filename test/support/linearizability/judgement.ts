import { type AccountState, accountModel } from './account-model.ts'
import { checkHistory, type Operation, type Specification } from './checker.ts'
import { accountHistory, type Exchange, isKnown, quotaHistories } from './history.ts'
import { historyOfName, NAME_MODEL } from './name-model.ts'
import { QUOTA_MODEL } from './quota-model.ts'
import { smallWitness } from './witness.ts'

const EMPTY: AccountState = { domains: [], groups: [] }
/** How a fault ends that is perhaps none: too little was known, so that too many orders are possible. */
export const UNDECIDED = 'the search for an order took too long.'

/** What is wrong with a run, each with the part of the history that shows it; none where it is as one server would do. */
export function faultsOfRun(exchanges: readonly Exchange[], names: readonly string[]): string[] {
  const accounts = [...new Set(exchanges.map(({ account }) => account))]
  return [
    ...repeatedIds(exchanges),
    ...accounts.flatMap((account) =>
      faultsOfAccount(
        exchanges.filter((each) => each.account === account),
        names,
      ),
    ),
  ]
}

function faultsOfAccount(exchanges: readonly Exchange[], names: readonly string[]): string[] {
  const [first] = exchanges
  if (first === undefined) return []
  const history = accountHistory(exchanges)
  const byName = names.flatMap((name) => faultOf(`group name ${name}`, historyOfName(history, name), NAME_MODEL))
  const byQuota = [...quotaHistories(exchanges)].flatMap(([quota, counted]) =>
    faultOf(`quota of ${quota}`, counted, QUOTA_MODEL),
  )
  const whole = faultOf('domains and groups', history, accountModel(EMPTY))
  return [...byName, ...byQuota, ...whole].map((fault) => `Account ${first.account}, ${fault}`)
}

function faultOf<State, Call, Outcome>(
  object: string,
  history: readonly Operation<Call, Outcome>[],
  specification: Specification<State, Call, Outcome>,
): string[] {
  const verdict = checkHistory(history, specification)
  if (verdict.linearizable === true) return []
  if (verdict.linearizable === undefined) return [`${object}: ${UNDECIDED}`]
  const witness = smallWitness(history, specification)
  const further = checkHistory(witness, specification)
  const shown = witness.toSorted((one, other) => one.invoked - other.invoked)
  return [
    [
      `${object}: no order of these calls explains what they were told:`,
      ...shown.map((operation) => `  ${describeOperation(operation)}`),
      ...(further.linearizable === false
        ? [
            `At the furthest, the state is ${JSON.stringify(further.state)}, and none of these fits:`,
            ...further.blocked.map((operation) => `  ${describeOperation(operation)}`),
          ]
        : []),
    ].join('\n'),
  ]
}

function describeOperation({ call, outcome, invoked, returned }: Operation<unknown, unknown>): string {
  const end = Number.isFinite(returned) ? returned.toFixed(2) : '…'
  return `${invoked.toFixed(2)}–${end} ${JSON.stringify(call)} → ${outcome === undefined ? 'unknown' : JSON.stringify(outcome)}`
}

/** "Never reused": neither the ids of requests nor those of groups. */
function repeatedIds(exchanges: readonly Exchange[]): string[] {
  const requests = exchanges.flatMap(({ requestId }) => requestId ?? [])
  const created = exchanges.filter((each) => each.call.do === 'create group' && isKnown(each))
  const groups = created.flatMap(({ told }) => told.group?.id ?? [])
  return [
    ...repeats(requests).map((id) => `The request id ${id} was given twice.`),
    ...repeats(groups).map((id) => `The group id ${id} was given twice.`),
  ]
}

function repeats(ids: readonly string[]): string[] {
  const seen = new Set<string>()
  return ids.filter((id) => seen.size === seen.add(id).size)
}
