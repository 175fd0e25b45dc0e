import { isObject } from '../ground/json.ts'
import type { Explanation } from './behaviour.ts'
import { areSameSets, areTexts, groupIn } from './data.ts'
import type { GroupFact, Knowledge, OtherMembers } from './knowledge.ts'
import { comparable, type Purpose } from './purpose.ts'
import type { Reading } from './reading.ts'

/** Takes over what a response shows. `now` is on the service's clock. */
export function learnFrom(
  knowledge: Knowledge,
  reading: Reading,
  purpose: Purpose,
  explanation: Explanation | undefined,
  now: number,
): void {
  const { operation, outcome, exchange } = reading
  if (outcome.kind !== 'success' || operation === undefined) return
  const { data } = outcome
  const by = exchange.id
  const echo = isObject(data) && areTexts(data['domains']) ? data['domains'] : []
  const group = isObject(data) ? groupIn(data['group']) : undefined
  switch (operation.id) {
    case 'addDomains': {
      const added = new Map(echo.map((spelling) => [comparable(spelling), spelling]))
      // Domains are added in the order of the request, in whatever order a response repeats them.
      const names = [...purpose.names.filter((name) => added.has(name)), ...added.keys()]
      for (const name of new Set(names)) {
        knowledge.addDomain(name, { spelling: purpose.spellings.get(name) ?? name, addedAt: now, by })
      }
      break
    }
    case 'deleteDomains':
      for (const name of echo) knowledge.removeDomain(comparable(name), by)
      break
    case 'createDomainGroup':
    case 'updateDomainGroup': {
      if (group === undefined) break
      const isCreation = operation.id === 'createDomainGroup'
      const fact = factOf(knowledge, group, explanation, by, isCreation)
      if (isCreation) knowledge.addGroup(group.id, fact)
      else knowledge.seeGroup(group.id, fact)
      learnMoves(knowledge, group.id, explanation)
      break
    }
    case 'deleteDomainGroup':
      // Of several ids, another one may have been meant.
      if (purpose.ids.length > 1) knowledge.forget([], purpose.ids)
      for (const id of removedIn(purpose, explanation)) {
        for (const member of knowledge.groups.get(id)?.domains ?? []) knowledge.release(member)
        knowledge.removeGroup(id, by)
      }
      break
    case 'listDomainGroups':
      if (group !== undefined) knowledge.seeGroup(group.id, factOf(knowledge, group, explanation, by))
      break
  }
}

function factOf(
  knowledge: Knowledge,
  group: { id: string; name: string; domains: readonly string[] },
  explanation: Explanation | undefined,
  by: string,
  isCreation = false,
): Pick<GroupFact, 'name' | 'domains' | 'isInOrder' | 'by'> {
  const members = group.domains.map(comparable)
  const after = membersIn(explanation?.prediction, group.id) ?? createdMembersIn(explanation?.prediction)
  // The order of addition is known where that of before is, or where all members came with the group.
  const isKnown = isCreation || knowledge.groups.get(group.id)?.isInOrder === true
  const isInOrder = isKnown && after !== undefined && areSameSets(after, members)
  return { name: group.name, domains: isInOrder ? after : members, isInOrder, by }
}

/** Notes what other groups have lost to this one, and what they would have lost under another choice. */
function learnMoves(knowledge: Knowledge, id: string, explanation: Explanation | undefined): void {
  if (explanation === undefined) return
  for (const [other, fact] of knowledge.groups) {
    if (other === id || !fact.exists) continue
    const domains = membersIn(explanation.prediction, other) ?? fact.domains
    const otherwise = explanation.otherwise.flatMap(({ id: assumption, number, prediction }): OtherMembers[] => {
      const members = membersIn(prediction, other)
      return members === undefined || areSameSets(members, domains)
        ? []
        : [{ id: assumption, number, domains: members }]
    })
    if (domains !== fact.domains || otherwise.length > 0) {
      knowledge.groups.set(other, { ...fact, domains, ...(otherwise.length > 0 && { otherwise }) })
    }
  }
}

/** The groups that a request has removed. Where a service may have meant another one, nothing is known of either. */
function removedIn({ ids }: Purpose, explanation: Explanation | undefined): readonly string[] {
  const predictions = [explanation?.prediction, ...(explanation?.otherwise ?? []).map(({ prediction }) => prediction)]
  const removed = predictions.map((each) => ids.filter((id) => each?.ok !== true || !each.state.groups.has(id)))
  const [first = ids] = removed
  return removed.every((each) => each.join() === first.join()) ? first : []
}

function membersIn(prediction: Explanation['prediction'], id: string): readonly string[] | undefined {
  return prediction?.ok === true ? prediction.state.groups.get(id)?.domains.map(comparable) : undefined
}

/** The members of the group that a request has created, which has an id of our own there. */
function createdMembersIn(prediction: Explanation['prediction']): readonly string[] | undefined {
  if (prediction?.ok !== true || prediction.state.groupsCreated === 0) return undefined
  return [...prediction.state.groups.values()].at(-1)?.domains.map(comparable)
}
