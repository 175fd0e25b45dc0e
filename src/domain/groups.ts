import type { AccountState, DomainGroup } from './account.ts'
import { repeats } from './domains.ts'
import { accept, type Decision, type Problem, refusalOf, refuse } from './errors.ts'
import type { Settings } from './settings.ts'

type GroupSettings = Pick<Settings, 'nameComparison' | 'repeatedMembers'>

export interface GroupToCreate {
  /** One that it has already, when it was created elsewhere. */
  id?: string
  name: string
  /** Canonical. */
  domains: readonly string[]
}

/** The fields of a PATCH that were sent; all domains canonical. */
export interface GroupChanges {
  name?: string
  domains?: readonly string[]
  addDomains?: readonly string[]
  removeDomains?: readonly string[]
}

/** How many characters of which alphabet an id has. */
export interface IdFormat {
  alphabet: string
  length: number
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const ASCII = /^[\u0000-\u007f]*$/

/**
 * The form in which two names are the same. Upper case first, then lower, because either alone tells apart what a
 * reader takes for one name: `STRASSE` and `straße`, or the two forms of a final sigma.
 */
export function comparedName(name: string, comparison: Settings['nameComparison']): string {
  switch (comparison) {
    case 'unicode':
      // Nothing of this does more to ASCII than the last step.
      return ASCII.test(name) ? name.toLowerCase() : name.normalize('NFC').toUpperCase().toLowerCase()
    case 'lower-case':
      return name.toLowerCase()
    case 'ascii':
      return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  }
}

/** Source: POST /domaingroups, "if any is not, the request fails and no group is created." */
export function createGroup(
  state: AccountState,
  input: GroupToCreate,
  idFormat: IdFormat,
  settings: GroupSettings,
): Decision<AccountState, DomainGroup> {
  const compared = comparedName(input.name, settings.nameComparison)
  const problems = membershipProblems(state, input.domains, '/domains', settings)
  if (state.groupNames.has(compared)) problems.push(nameTaken(input.name))
  const refusal = refusalOf(problems)
  if (refusal) return refusal
  let groupsCreated = state.groupsCreated
  let id = input.id ?? ''
  // An imported account may hold ids that were made elsewhere.
  while (id === '' || (input.id === undefined && state.groups.has(id))) {
    id = groupId(state.seed, groupsCreated++, idFormat)
  }
  const group = { id, name: input.name, domains: withoutRepeats(input.domains) }
  return accept(
    {
      ...state,
      groups: input.id === undefined ? state.groups.add(id, group) : state.groups.set(id, group),
      groupNames: state.groupNames.add(compared, id),
      groupsCreated,
    },
    group,
  )
}

/** Source: PATCH /domaingroups, "additions are applied first, then removals." */
export function updateGroup(
  state: AccountState,
  id: string,
  changes: GroupChanges,
  settings: GroupSettings,
): Decision<AccountState, DomainGroup> {
  const group = state.groups.get(id)
  const problems = [
    ...(group === undefined ? [unknownGroup(id)] : []),
    ...membershipProblems(state, changes.domains ?? [], '/domains', settings),
    ...membershipProblems(state, changes.addDomains ?? [], '/add_domains', settings),
  ]
  const compared = changes.name === undefined ? undefined : comparedName(changes.name, settings.nameComparison)
  const holder = compared === undefined ? undefined : state.groupNames.get(compared)
  if (changes.name !== undefined && holder !== undefined && holder !== id) problems.push(nameTaken(changes.name))
  const refusal = refusalOf(problems)
  if (refusal) return refusal
  if (group === undefined) return refuse(unknownGroup(id))

  const removed = new Set(changes.removeDomains)
  const members = [...(changes.domains ?? group.domains), ...(changes.addDomains ?? [])]
  const domains = [...new Set(members)].filter((member) => !removed.has(member))
  const updated = { id, name: changes.name ?? group.name, domains }
  const next = { ...state, groups: state.groups.set(id, updated) }
  if (compared !== undefined && holder === undefined) {
    const former = comparedName(group.name, settings.nameComparison)
    next.groupNames = state.groupNames.delete(former).set(compared, id)
  }
  return accept(next, updated)
}

/** Source: DELETE /domaingroups, "Only the grouping is removed; member domains stay monitored." */
export function deleteGroup(
  state: AccountState,
  id: string,
  settings: Pick<Settings, 'nameComparison'>,
): Decision<AccountState, DomainGroup> {
  const group = state.groups.get(id)
  if (group === undefined) return refuse(unknownGroup(id))
  const compared = comparedName(group.name, settings.nameComparison)
  return accept({ ...state, groups: state.groups.delete(id), groupNames: state.groupNames.delete(compared) }, group)
}

function withoutRepeats(names: readonly string[]): readonly string[] {
  // Of a few names, which is most often all, a set would cost more than it spares.
  const differ = names.length < 10 && !names.some((name, index) => names.indexOf(name) < index)
  return differ ? names : [...new Set(names)]
}

export function unknownGroup(id: string): Problem {
  return { code: 'not_found', field: 'id', value: id }
}

function nameTaken(name: string): Problem {
  return { code: 'duplicate_name', field: '/name', value: name }
}

function membershipProblems(
  state: AccountState,
  members: readonly string[],
  field: string,
  settings: GroupSettings,
): Problem[] {
  const problems = settings.repeatedMembers === 'refused' ? repeats(members, field) : []
  for (let index = 0; index < members.length; index++) {
    const domain = members[index] ?? ''
    if (!state.domains.has(domain)) {
      problems.push({ code: 'not_monitored', field: `${field}/${index}`, value: domain, about: { domain } })
    }
  }
  return problems
}

/**
 * The id of the account's `ordinal`th group: a permutation of all words of that format, so that no two ordinals
 * share one, which looks like chance and is none. The step is a prime larger than any alphabet, hence coprime to
 * the number of words.
 */
function groupId(seed: number, ordinal: number, { alphabet, length }: IdFormat): string {
  const base = alphabet.length
  if (known.seed !== seed || known.base !== base || known.length !== length) known = spell(seed, base, length)
  const { start, step } = known
  let id = ''
  let carry = 0
  // Digit by digit as on paper: integers of that size would be made and thrown away at each step.
  for (let place = 0; place < length; place++) {
    const sum = carry + (start[place] ?? 0) + ordinal * (step[place] ?? 0)
    carry = Math.floor(sum / base)
    id = alphabet.charAt(sum % base) + id
  }
  return id
}

/** Start and step of a seed's ids as digits, the last one first. */
interface Spelling {
  seed: number
  base: number
  length: number
  start: readonly number[]
  step: readonly number[]
}

/** That of the last id that was made; the next one is most often of the same account. */
let known = spell(0, 2, 0)

function spell(seed: number, base: number, length: number): Spelling {
  const start = digitsOf(BigInt(seed) * 77_777_777_977n + 98_765_432_123_457n, base, length)
  return { seed, base, length, start, step: digitsOf(134_941_606_347_817n, base, length) }
}

function digitsOf(number: bigint, base: number, length: number): number[] {
  const digits: number[] = []
  for (let rest = number; digits.length < length; rest /= BigInt(base)) digits.push(Number(rest % BigInt(base)))
  return digits
}
