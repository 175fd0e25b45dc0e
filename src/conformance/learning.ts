import { changesAccount } from '../behaviour/operation.ts'
import type { Explanation } from '../choices/explainer.ts'
import type { GroupFact, Knowledge, OtherMembers } from '../choices/knowledge.ts'
import type { DomainGroup } from '../domain/account.ts'
import { areSameSets } from '../exchanges/data.ts'
import { comparable, type RequestPurpose } from '../exchanges/purpose.ts'
import type { ReadExchange } from '../exchanges/reading.ts'

/** Updates the knowledge from a response. `now` is on the service's clock. */
export function learnFrom(
  knowledge: Knowledge,
  reading: ReadExchange,
  purpose: RequestPurpose,
  explanation: Explanation | undefined,
  now: number,
): void {
  const { operation, shown } = reading
  if (operation === undefined) return
  const by = reading.exchange.id
  const added = new Set(shown.added?.map(comparable))
  // Domains are added in the order of the request, even if the response repeats them in another order.
  for (const name of new Set([...purpose.names.filter((each) => added.has(each)), ...added])) {
    knowledge.addDomain(name, { spelling: purpose.spellings.get(name) ?? name, addedAt: now, by })
  }
  for (const name of shown.removed ?? []) knowledge.removeDomain(comparable(name), by)
  const { isNew = false } = shown
  const group = shown.group ?? groupAfter(knowledge, purpose, explanation)
  if (group === undefined && purpose.ids.length > 0 && !shown.isDeleted) knowledge.forget([], purpose.ids)
  if (group !== undefined) {
    const fact = factOf(knowledge, group, explanation, by, isNew)
    if (isNew) knowledge.addGroup(group.id, fact)
    else knowledge.seeGroup(group.id, fact)
    if (changesAccount(operation)) learnMoves(knowledge, group.id, explanation)
  }
  if (!shown.isDeleted) return
  // If there are several ids, the service may have meant another one.
  if (purpose.ids.length > 1) knowledge.forget([], purpose.ids)
  for (const id of removedIn(purpose, explanation)) {
    for (const member of knowledge.groups.get(id)?.domains ?? []) knowledge.release(member)
    knowledge.removeGroup(id, by)
  }
}

/** The changed group, if the response does not show it but all explanations agree on it. */
function groupAfter(
  knowledge: Knowledge,
  { ids }: RequestPurpose,
  explanation: Explanation | undefined,
): DomainGroup | undefined {
  const [id = ''] = ids
  if (explanation === undefined || ids.length !== 1 || knowledge.groupOf(id)?.exists !== true) return undefined
  const predictions = [explanation.prediction, ...explanation.underOthers.map(({ prediction }) => prediction)]
  const groups = predictions.map((each) => (each?.ok === true ? each.state.groups.get(id) : undefined))
  const [first] = groups
  if (first === undefined) return undefined
  const isSame = groups.every((each) => each?.name === first.name && areSameSets(each.domains, first.domains))
  return isSame ? first : undefined
}

function factOf(
  knowledge: Knowledge,
  group: DomainGroup,
  explanation: Explanation | undefined,
  by: string,
  isCreation: boolean,
): Pick<GroupFact, 'name' | 'domains' | 'isInOrder' | 'by'> {
  const members = group.domains.map(comparable)
  const after = membersIn(explanation?.prediction, group.id) ?? createdMembersIn(explanation?.prediction)
  // The order of addition is known if the former order is known, or if all members came with the group.
  const isKnown = isCreation || knowledge.groups.get(group.id)?.isInOrder === true
  const isInOrder = isKnown && after !== undefined && areSameSets(after, members)
  return { name: group.name, domains: isInOrder ? after : members, isInOrder, by }
}

/** Notes which members other groups lost to this one, and which they would have lost under another choice. */
function learnMoves(knowledge: Knowledge, id: string, explanation: Explanation | undefined): void {
  if (explanation === undefined) return
  for (const [other, fact] of knowledge.groups) {
    if (other === id || !fact.exists) continue
    const domains = membersIn(explanation.prediction, other) ?? fact.domains
    const underOthers = explanation.underOthers.flatMap(({ id: assumption, number, prediction }): OtherMembers[] => {
      const members = membersIn(prediction, other)
      return members === undefined || areSameSets(members, domains)
        ? []
        : [{ id: assumption, number, domains: members }]
    })
    if (domains !== fact.domains || underOthers.length > 0) {
      knowledge.groups.set(other, { ...fact, domains, ...(underOthers.length > 0 && { underOthers }) })
    }
  }
}

/** The groups that a request removed. If the service may have meant another group, the result is empty. */
function removedIn({ ids }: RequestPurpose, explanation: Explanation | undefined): readonly string[] {
  const predictions = [explanation?.prediction, ...(explanation?.underOthers ?? []).map(({ prediction }) => prediction)]
  const removed = predictions.map((each) => ids.filter((id) => each?.ok !== true || !each.state.groups.has(id)))
  const [first = ids] = removed
  return removed.every((each) => each.join() === first.join()) ? first : []
}

function membersIn(prediction: Explanation['prediction'], id: string): readonly string[] | undefined {
  return prediction?.ok === true ? prediction.state.groups.get(id)?.domains.map(comparable) : undefined
}

/** The members of the group that a request created. In the prediction, this group has an id of our own. */
function createdMembersIn(prediction: Explanation['prediction']): readonly string[] | undefined {
  if (prediction?.ok !== true || prediction.state.groupsCreated === 0) return undefined
  return [...prediction.state.groups.values()].at(-1)?.domains.map(comparable)
}
