import { changesAccount } from '../behaviour/operation.ts'
import type { Rehearsal } from '../behaviour/rehearsal.ts'
import type { Operation } from '../contract/api.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import { comparedName } from '../domain/groups.ts'
import type { Settings } from '../domain/settings.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { show, spelt } from '../ground/show.ts'
import { firstValues, type Parameters } from '../ground/target.ts'

export interface CorrectedQuery {
  parameters: Parameters
  changes: readonly string[]
}

const CREDENTIAL = /key|token|secret|auth|passw/i

/**
 * The parameters that an operation accepts, and the id of an existing group. `others` are further texts of the request
 * that may be a group id.
 */
export function correctQuery(
  sent: Parameters,
  others: readonly string[],
  operation: Operation,
  rehearsal: Rehearsal,
): CorrectedQuery {
  const { state, contract } = rehearsal
  const { parameters, changes } = placeParameters(sent, operation, contract.settings)
  const given = firstValues(parameters)['id']
  const isRequired = operation.checkQuery({}).length > 0
  const asksForOne = isRequired || given !== undefined || others.length > 0
  if (!operation.parameters.has('id') || !asksForOne || state.groups.has(given ?? '')) return { parameters, changes }

  const clues = [...others, ...sent.map(([, value]) => value)]
  const meant = clues.map((clue) => groupFor(clue, state, contract.settings)).find((group) => group !== undefined)
  const isEmpty = state.groups.size === 0
  // A group that the client has not named must not be changed, and much less deleted.
  const isNew = meant === undefined && (isEmpty || changesAccount(operation))
  const { id, name } = meant ?? (isNew ? rehearsal.ownGroup() : rehearsal.group())
  const why = isEmpty ? 'because there is none' : 'so that no other group changes; name the group that you mean instead'
  const whose = isNew ? `a group has that is created first, ${why}` : `the group ${show(name)} has`
  return {
    parameters: [['id', id], ...parameters.filter(([each]) => each !== 'id')],
    changes: [...changes, `The query parameter \`id\` is ${id}, which ${whose}.`],
  }
}

/** Corrects the names of parameters. Leaves out those that are refused, and those that hold a credential. */
function placeParameters(parameters: Parameters, operation: Operation, settings: Settings): CorrectedQuery {
  const placed: (readonly [string, string])[] = []
  const changes: string[] = []
  const names = new Set(parameters.map(([name]) => name))
  for (const [name, value] of parameters) {
    const free = [...operation.parameters.keys()].filter((each) => !names.has(each))
    const isKnown = operation.parameters.has(name)
    const meant = isKnown ? undefined : nearestName(name, free)
    if (meant !== undefined) {
      names.add(meant)
      changes.push(`The query parameter \`${meant}\` is what ${spelt(name)} stood for.`)
    } else if (!isKnown && (settings.unknownQueryParameters === 'refused' || CREDENTIAL.test(name))) {
      changes.push(`The query parameter ${spelt(name)} was left out: there is no parameter with this name.`)
      continue
    }
    placed.push([meant ?? name, value])
  }
  return { parameters: placed, changes }
}

/** The group that a text probably means: its id in another case or with white space around it, or its name. */
function groupFor(text: string, { groups, groupNames }: AccountState, settings: Settings): DomainGroup | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const named = groupNames.get(comparedName(trimmed, settings.nameComparison)) ?? ''
  const inOtherCase = () => [...groups.values()].find(({ id }) => id.toLowerCase() === trimmed.toLowerCase())
  return groups.get(trimmed) ?? groups.get(named) ?? inOtherCase()
}
