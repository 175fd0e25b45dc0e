import type { Rehearsal } from '../behaviour/rehearsal.ts'
import type { Operation } from '../contract/api.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import { comparedName } from '../domain/groups.ts'
import type { Settings } from '../domain/settings.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { quoted, spelt } from './wording.ts'

export type Parameters = readonly (readonly [name: string, value: string])[]

export interface CorrectedQuery {
  parameters: Parameters
  changes: readonly string[]
}

interface Sent {
  parameters: Parameters
  /** Other texts of the request that may be the id of a group. */
  clues: readonly string[]
}

/** Every server takes a target of so many octets (RFC 9110 §4.1); what does nothing must not make it longer. */
const LENGTH = 8000
const CREDENTIAL = /key|token|secret|auth|passw/i

/** The parameters that an operation accepts, and the id of a group that there is. */
export function correctQuery(sent: Sent, operation: Operation, rehearsal: Rehearsal): CorrectedQuery {
  const { settings } = rehearsal.contract
  const named = placeParameters(sent.parameters, operation, settings)
  const changes = [...named.changes]
  const given = named.parameters.find(([name]) => name === 'id')?.[1]
  const clues = [...sent.clues, ...sent.parameters.map(([, value]) => value)]
  const required = operation.checkQuery({}).length > 0
  const asksForOne = required || given !== undefined || sent.clues.length > 0
  if (!operation.parameters.has('id') || !asksForOne) return { parameters: named.parameters, changes }
  if (given !== undefined && rehearsal.state.groups.has(given)) return { parameters: named.parameters, changes }

  const meant = clues.map((clue) => groupFor(clue, rehearsal.state, settings)).find((group) => group !== undefined)
  const present = rehearsal.state.groups.size > 0
  const { id, name } = meant ?? rehearsal.group()
  changes.push(
    meant !== undefined || present
      ? `The query parameter \`id\` is ${id}, which the group ${quoted(name)} has.`
      : `The query parameter \`id\` is ${id}, which the group has that is created before, because there is none.`,
  )
  const others = named.parameters.filter(([name]) => name !== 'id')
  return { parameters: [['id', id], ...others], changes }
}

/** Gives misspelt parameters their name, and leaves out those that are refused or that hold a credential. */
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
      changes.push(`The query parameter ${spelt(name)} was left out: there is none of this name.`)
    } else placed.push([name, value])
  }
  if (spellQuery(placed).length <= LENGTH) return { parameters: placed, changes }
  changes.push('The parameters that no operation knows were left out, because the query is too long with them.')
  const known = placed.filter(([name], index) => {
    return operation.parameters.has(name) && placed.findIndex(([each]) => each === name) === index
  })
  return { parameters: known, changes }
}

/** The query as it is written in a target. */
export function spellQuery(parameters: Parameters): string {
  const query = new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value])).toString()
  return query === '' ? '' : `?${query}`
}

/** The group that a text nearly identifies: by its id in other case or with white space around it, or by its name. */
function groupFor(text: string, { groups, groupNames }: AccountState, settings: Settings): DomainGroup | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const exact = groups.get(trimmed) ?? groups.get(groupNames.get(comparedName(trimmed, settings.nameComparison)) ?? '')
  if (exact !== undefined) return exact
  return [...groups.values()].find(({ id }) => id.toLowerCase() === trimmed.toLowerCase())
}
