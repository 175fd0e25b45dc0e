import { changesAccount } from '../behaviour/operation.ts'
import type { Rehearsal } from '../behaviour/rehearsal.ts'
import type { Operation } from '../contract/api.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import { comparedName } from '../domain/groups.ts'
import type { Settings } from '../domain/settings.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { firstValues, type Parameters, writeQuery } from '../ground/target.ts'
import { quoted, spelt } from './wording.ts'

export interface CorrectedQuery {
  parameters: Parameters
  changes: readonly string[]
}

/**
 * Every server accepts a target of this many octets (RFC 9110 §4.1). Parameters without effect must not make it longer.
 */
const LENGTH = 8000
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
  const { settings } = rehearsal.contract
  const named = placeParameters(sent, operation, settings)
  const changes = [...named.changes]
  const given = firstValues(named.parameters)['id']
  const clues = [...others, ...sent.map(([, value]) => value)]
  const required = operation.checkQuery({}).length > 0
  const asksForOne = required || given !== undefined || others.length > 0
  if (!operation.parameters.has('id') || !asksForOne) return { parameters: named.parameters, changes }
  if (given !== undefined && rehearsal.state.groups.has(given)) return { parameters: named.parameters, changes }

  const meant = clues.map((clue) => groupFor(clue, rehearsal.state, settings)).find((group) => group !== undefined)
  const isEmpty = rehearsal.state.groups.size === 0
  const changesGroup = changesAccount(operation)
  // A group that the client has not named must not be changed, and much less deleted.
  const isNew = meant === undefined && (isEmpty || changesGroup)
  const { id, name } = meant ?? (isNew ? rehearsal.ownGroup() : rehearsal.group())
  const why = isEmpty ? 'because there is none' : 'so that no other group changes; name the group that you mean instead'
  changes.push(
    isNew
      ? `The query parameter \`id\` is ${id}, which a group has that is created first, ${why}.`
      : `The query parameter \`id\` is ${id}, which the group ${quoted(name)} has.`,
  )
  return { parameters: [['id', id], ...named.parameters.filter(([name]) => name !== 'id')], changes }
}

/** Corrects the names of parameters. Removes those that are refused, and those that hold a credential. */
function placeParameters(parameters: Parameters, operation: Operation, settings: Settings): CorrectedQuery {
  const placed: (readonly [string, string])[] = []
  const changes: string[] = []
  const names = new Set(parameters.map(([name]) => name))
  for (const [name, value] of parameters) {
    const meant = nearestName(
      name,
      [...operation.parameters].filter((each) => !names.has(each)),
    )
    if (operation.parameters.has(name)) placed.push([name, value])
    else if (meant !== undefined) {
      names.add(meant)
      placed.push([meant, value])
      changes.push(`The query parameter \`${meant}\` is what ${spelt(name)} stood for.`)
    } else if (settings.unknownQueryParameters === 'refused' || CREDENTIAL.test(name)) {
      changes.push(`The query parameter ${spelt(name)} was left out: there is no parameter with this name.`)
    } else placed.push([name, value])
  }
  if (writeQuery(placed).length <= LENGTH) return { parameters: placed, changes }
  changes.push('Unknown parameters were left out, because the query was too long.')
  const known = placed.filter(([name], index) => {
    return operation.parameters.has(name) && placed.findIndex(([each]) => each === name) === index
  })
  return { parameters: known, changes }
}

/** The group that a text probably means: its id in another case or with white space around it, or its name. */
function groupFor(text: string, { groups, groupNames }: AccountState, settings: Settings): DomainGroup | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const exact = groups.get(trimmed) ?? groups.get(groupNames.get(comparedName(trimmed, settings.nameComparison)) ?? '')
  if (exact !== undefined) return exact
  return [...groups.values()].find(({ id }) => id.toLowerCase() === trimmed.toLowerCase())
}
