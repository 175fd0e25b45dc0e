import { type AccountState, type DomainGroup, withContents } from './account.ts'
import { hasRepeats, problemWith } from './domains.ts'
import { accept, type Decision, type Problem, refusalOf, refuse } from './errors.ts'
import { LIMITS } from './limits.ts'
import type { Settings } from './settings.ts'

type GroupSettings = Pick<Settings, 'nameComparison' | 'sharedDomains'>

export interface GroupToCreate {
  /** Its id, if it was created elsewhere. */
  id?: string
  name: string
  /** In canonical form. */
  domains: readonly string[]
}

/** The fields of a PATCH request. All domains are in canonical form. */
export interface GroupChanges {
  name?: string
  domains?: readonly string[]
  addDomains?: readonly string[]
  removeDomains?: readonly string[]
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const ASCII = /^[\u0000-\u007f]*$/

/**
 * The form for the comparison of names. It converts to upper case and then to lower case. One step alone would keep
 * differences between names that look the same to a reader: `STRASSE` and `straße`, or the two forms of sigma.
 */
export function comparedName(name: string, comparison: Settings['nameComparison']): string {
  switch (comparison) {
    case 'unicode':
      // For ASCII, the last step alone gives the same result.
      return ASCII.test(name) ? name.toLowerCase() : name.normalize('NFC').toUpperCase().toLowerCase()
    case 'lower-case':
      return name.toLowerCase()
    case 'ascii':
      return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  }
}

/** Like `comparedName`, but reads the setting only for a name for which it makes a difference. */
function comparedUnder(settings: Pick<Settings, 'nameComparison'>, name: string): string {
  return ASCII.test(name) ? name.toLowerCase() : comparedName(name, settings.nameComparison)
}

/**
 * `others` are the members of all groups. A caller that creates many groups can keep them up to date.
 * Source: POST /domaingroups, "if any is not, the request fails and no group is created."
 */
export function createGroup(
  state: AccountState,
  input: GroupToCreate,
  groupIds: Pick<GroupIds, 'idOf'>,
  settings: GroupSettings,
  others = membersBeside(undefined, state, settings),
): Decision<AccountState, DomainGroup> {
  const compared = comparedUnder(settings, input.name)
  const domains = withoutRepeats(input.domains)
  const problems = membershipProblems(state, input.domains, others, '/domains', settings)
  if (state.groupNames.has(compared)) problems.push(nameTaken(input.name))
  const refusal = refusalOf(problems)
  if (refusal) return refusal
  const free =
    input.id === undefined ? findFreeId(state, groupIds) : { id: input.id, groupsCreated: state.groupsCreated }
  if (free === undefined) return refuse(noIdLeft(state))
  const { id, groupsCreated } = free
  const group = { id, name: input.name, domains }
  const groups = settings.sharedDomains === 'moved' ? withoutMembers(state.groups, domains) : state.groups
  const groupNames = state.groupNames.set(compared, id)
  return accept(withContents(state, { groups: groups.set(id, group), groupNames, groupsCreated }), group)
}

/**
 * The next id that no group has. A search is needed because an imported account may have foreign ids. Successive
 * ordinals have different ids until all ids are used. So among one more ordinal than there are groups, at least one id
 * is free. The sequence restarts at most once, so twice as many attempts are enough.
 */
function findFreeId(
  state: AccountState,
  groupIds: Pick<GroupIds, 'idOf'>,
): { id: string; groupsCreated: number } | undefined {
  let ordinal = state.groupsCreated
  for (let tries = 0; tries < 2 * (state.groups.size + 1); tries++) {
    const id = groupIds.idOf(state, ordinal)
    ordinal = ordinal < LIMITS.groupsCreated ? ordinal + 1 : 0
    if (!state.groups.has(id)) return { id, groupsCreated: ordinal }
  }
  return undefined
}

/** The account has as many groups as there are ids. This is refused like a resource that the plan does not include. */
function noIdLeft(state: AccountState): Problem {
  const { size } = state.groups
  const about = { plan: state.plan, limit: size, count: size + 1 }
  return { code: 'unauthorized', reason: 'group-cap', field: '', value: size + 1, about }
}

/** Source: PATCH /domaingroups, "additions are applied first, then removals." */
export function updateGroup(
  state: AccountState,
  id: string,
  changes: GroupChanges,
  settings: GroupSettings,
): Decision<AccountState, DomainGroup> {
  const group = state.groups.get(id)
  const others = membersBeside(id, state, settings)
  const problems = [
    ...(group === undefined ? [unknownGroup(id)] : []),
    ...membershipProblems(state, changes.domains ?? [], others, '/domains', settings),
    ...membershipProblems(state, changes.addDomains ?? [], others, '/add_domains', settings),
  ]
  const compared = changes.name === undefined ? undefined : comparedUnder(settings, changes.name)
  const holder = compared === undefined ? undefined : state.groupNames.get(compared)
  // A group may be renamed to its own name in another case.
  if (changes.name !== undefined && holder !== undefined && holder !== id) problems.push(nameTaken(changes.name))
  const refusal = refusalOf(problems)
  if (refusal) return refusal
  if (group === undefined) return refuse(unknownGroup(id))

  const absent = new Set(changes.removeDomains)
  const members = new Set([...(changes.domains ?? group.domains), ...(changes.addDomains ?? [])])
  const domains = [...members].filter((member) => !absent.has(member))
  const grows = changes.domains !== undefined || changes.addDomains !== undefined
  const groups = settings.sharedDomains !== 'moved' || !grows ? state.groups : withoutMembers(state.groups, domains)
  const updated = { id, name: changes.name ?? group.name, domains }
  const isRenamed = compared !== undefined && holder === undefined
  const groupNames = isRenamed
    ? state.groupNames.delete(comparedUnder(settings, group.name)).set(compared, id)
    : state.groupNames
  return accept(withContents(state, { groups: groups.set(id, updated), groupNames }), updated)
}

/** Source: DELETE /domaingroups, "Only the grouping is removed; member domains stay monitored." */
export function deleteGroup(
  state: AccountState,
  id: string,
  settings: Pick<Settings, 'nameComparison'>,
): Decision<AccountState, DomainGroup> {
  const group = state.groups.get(id)
  if (group === undefined) return refuse(unknownGroup(id))
  const compared = comparedUnder(settings, group.name)
  const groupNames = state.groupNames.delete(compared)
  return accept(withContents(state, { groups: state.groups.delete(id), groupNames }), group)
}

function withoutRepeats(names: readonly string[]): readonly string[] {
  return hasRepeats(names) ? [...new Set(names)] : names
}

export function unknownGroup(id: string): Problem {
  return { code: 'not_found', field: 'id', value: id }
}

function nameTaken(name: string): Problem {
  return { code: 'duplicate_name', field: '/name', value: name }
}

/** The members of all groups, or of all but one; `undefined` if groups can share domains. */
export function membersBeside(
  id: string | undefined,
  { groups }: AccountState,
  { sharedDomains }: Pick<GroupSettings, 'sharedDomains'>,
): Set<string> | undefined {
  if (sharedDomains === 'allowed') return undefined
  const members = new Set<string>()
  for (const group of groups.values()) if (group.id !== id) for (const domain of group.domains) members.add(domain)
  return members
}

/** The groups without these members. */
function withoutMembers(groups: AccountState['groups'], domains: readonly string[]): AccountState['groups'] {
  const leaving = new Set(domains)
  const shrunk = [...groups.values()].flatMap((group): [string, DomainGroup][] => {
    const left = group.domains.filter((member) => !leaving.has(member))
    return left.length === group.domains.length ? [] : [[group.id, { ...group, domains: left }]]
  })
  return groups.merge(shrunk)
}

/** The problems of new members. `others` are those of other groups. A member that is named twice counts once. */
function membershipProblems(
  state: AccountState,
  members: readonly string[],
  others: ReadonlySet<string> | undefined,
  field: string,
  settings: GroupSettings,
): Problem[] {
  const problems: Problem[] = []
  for (let index = 0; index < members.length; index++) {
    const domain = members[index] ?? ''
    if (!state.domains.has(domain)) {
      problems.push({ code: 'not_monitored', field: `${field}/${index}`, value: domain, about: { domain } })
    } else if (settings.sharedDomains === 'refused' && others?.has(domain) === true) {
      problems.push(problemWith(domain, `${field}/${index}`, 'invalid_domain', 'grouped'))
    }
  }
  return problems
}

/** The number of characters in an id, and their alphabet. */
export interface IdFormat {
  alphabet: string
  length: number
}

/** The ids of groups, in the format of the contract. */
export interface GroupIds extends IdFormat {
  /**
   * The id of the group that the account creates after `ordinal` others. Each account and seed has its own permutation
   * of all ids of the format, so no two ordinals share one, and two accounts practically never do: a client that mixes
   * them up gets `not_found`. `ordinal` is any exact number.
   */
  idOf(account: { id: string; seed: number }, ordinal: number): string
}

/** An ordinal moves an id by this prime. It is larger than any alphabet, so it is coprime to the number of ids. */
const STEP = 134_941_606_347_817n
/** The id of ordinal 0 is a linear function of 52 bits that are derived from the account and its seed. */
const START_FACTOR = 77_777_777_977n
const OFFSET = 98_765_432_123_457n
const HALF = 2 ** 26

/** `wordsOf` derives 32-bit words from a text. Each letter changes all of them. */
export function groupIdsOf(
  { alphabet, length }: IdFormat,
  wordsOf: (text: string) => readonly [number, number, ...number[]],
): GroupIds {
  const base = BigInt(alphabet.length)
  return {
    alphabet,
    length,
    idOf(account, ordinal) {
      const [high, low] = wordsOf(`${account.seed} ${account.id}`)
      const start = START_FACTOR * BigInt((high % HALF) * HALF + (low % HALF))
      let number = OFFSET + start + STEP * BigInt(ordinal)
      let id = ''
      for (let place = 0; place < length; place++) {
        id = alphabet.charAt(Number(number % base)) + id
        number /= base
      }
      return id
    },
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g
const PLAIN_ASCII = /^[\u0020-\u007e]*$/
/** Unpaired surrogates, which no Unicode encoding can write. */
const LONE_SURROGATE = /\p{Surrogate}/gu
/** Invisible characters, such as a zero-width space. Joiners are excluded, because they change how a word looks. */
export const INVISIBLE = /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/gu

/**
 * The reasons why a group cannot have a name, beyond the schema: U+0000, which most databases cannot store, and half of
 * a surrogate pair, which JSON can escape but no encoding can write.
 */
export function nameProblems(name: string): Pick<Problem, 'reason' | 'value' | 'about'>[] {
  const problems: Pick<Problem, 'reason' | 'value' | 'about'>[] = []
  // Most names need none of these checks, and they take as long as the rest.
  if (PLAIN_ASCII.test(name)) return problems
  if (name.includes('\u0000')) problems.push(withCharacter('control', name, '\u0000'))
  const [surrogate] = name.match(LONE_SURROGATE) ?? []
  if (surrogate !== undefined) problems.push(withCharacter('surrogate', name, surrogate))
  return problems
}

function withCharacter(reason: string, name: string, character: string): Pick<Problem, 'reason' | 'value' | 'about'> {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return { reason, value: name, about: { character: `U+${code}` } }
}

/** The longest prefix of a name that has at most `limit` characters (code points). */
export function cutName(name: string, limit: number): string {
  return [...name].slice(0, Math.max(0, limit)).join('')
}

/** A name without the characters that a person does not mean: control characters, halves of pairs, invisible ones. */
export function cleanName(name: string): string {
  return name.replaceAll(CONTROL, '').replaceAll(LONE_SURROGATE, '').replaceAll(INVISIBLE, '').trim()
}
