import type { AccountState, DomainGroup, DomainNature, MonitoredDomain } from '../domain/account.ts'
import { comparedName } from '../domain/groups.ts'
import { PersistentMap } from '../domain/persistent-map.ts'
import type { Settings } from '../domain/settings.ts'

/**
 * An account as parts, for stores that keep and send only what changes. Each domain, former domain and group is a part,
 * and so is every other field of the account. The value of a part is JSON. For a field, it is the value of the field.
 * For an entry of a map, it is an array of its place in the order of insertion and the entry.
 */
export type StoredPart = readonly [name: string, value: string]

/** A part with its new value; `undefined` if the account does not have it any more. */
export type PartChange = readonly [name: string, value: string | undefined]

/** The first letter of the names of fields. */
const FIELD = '.'
/** The first letters of domains, former domains and groups. The names of groups are derived from the groups. */
const LETTERS = ['d', 'f', 'g'] as const

type MapLetter = (typeof LETTERS)[number]
type AccountPart = MonitoredDomain | DomainNature | DomainGroup
type EntryMap = PersistentMap<string, AccountPart>
type ComparisonSettings = Pick<Settings, 'nameComparison'>

const NO_ENTRIES: EntryMap = PersistentMap.of()

/** The fields on which the plan of a request depends, see `Admission`. */
const PLANNED_BY: ReadonlySet<string> = new Set(
  ['id', 'seed', 'plan', 'keys', 'faults', 'clock'].map((name) => FIELD + name),
)

/** All parts of an account. */
export function* partsOf(state: AccountState): Generator<StoredPart, void, undefined> {
  for (const [name, value] of Object.entries(fieldsOf(state))) {
    if (value !== undefined) yield [FIELD + name, JSON.stringify(value)]
  }
  for (const [letter, map] of mapsOf(state)) {
    for (const [key, value, place] of map?.placed() ?? []) yield [letter + key, writeEntry(value, place)]
  }
}

/** The changes that turn one state into another, and the state that they produce. */
export interface Comparison {
  changes: PartChange[]
  /** The later state. If it was not made from the earlier one, its entries have other places, in the same order. */
  state: AccountState
}

/** Compares two states of an account, at the cost of the difference if one was made from the other. */
export function compareStates(before: AccountState, after: AccountState, settings: ComparisonSettings): Comparison {
  const changes: PartChange[] = []
  const [former, present] = [fieldsOf(before), fieldsOf(after)]
  for (const name of new Set([...Object.keys(former), ...Object.keys(present)])) {
    const [one, other] = [former[name], present[name]]
    if (one === other) continue
    const value = other === undefined ? undefined : JSON.stringify(other)
    if (one === undefined || JSON.stringify(one) !== value) changes.push([FIELD + name, value])
  }
  let isFollowed = true
  const formerMaps = new Map(mapsOf(before))
  for (const [letter, map = NO_ENTRIES] of mapsOf(after)) {
    const formerMap = formerMaps.get(letter) ?? NO_ENTRIES
    if (formerMap === map) continue
    const steps = map.changesSince(formerMap)
    if (steps === undefined) isFollowed = false
    const keys = steps?.map(([key]) => [key, map.placeOf(key)] as const) ?? movesTo(formerMap, map)
    for (const [key, place] of keys) {
      const value = map.get(key)
      changes.push([letter + key, value === undefined || place === undefined ? undefined : writeEntry(value, place)])
    }
  }
  return { changes, state: isFollowed ? after : applyChanges(before, changes, settings) }
}

/**
 * The keys whose entries differ between two unrelated maps, each with its new place; without a place if it is removed.
 * Entries that are in order keep their places. The first entry out of order, and all after it, move to the end.
 */
function movesTo(before: EntryMap, after: EntryMap): [key: string, place: number | undefined][] {
  const moves: [string, number | undefined][] = []
  for (const key of before.keys()) if (!after.has(key)) moves.push([key, undefined])
  let last = -1
  let next = before.nextPlace
  for (const [key, value] of after.entries()) {
    const place = before.placeOf(key)
    if (place === undefined || place < last) last = next
    if (place === undefined || place < last) moves.push([key, next++])
    else {
      last = place
      if (writeEntry(value, place) !== writeEntry(before.get(key) as AccountPart, place)) moves.push([key, place])
    }
  }
  return moves
}

/** Whether a change may alter the plan of a request, see `Admission`. */
export function changesPlans(changes: readonly PartChange[]): boolean {
  return changes.some(([name]) => PLANNED_BY.has(name))
}

/** The account that has these parts, in any order. @throws Error if the parts form no account */
export function joinParts(parts: Iterable<StoredPart>, settings: ComparisonSettings): AccountState {
  return assemble({}, { d: new Map(), f: new Map(), g: new Map() }, parts, settings)
}

/** The account with some parts replaced, in maps of its own. It can insert entries in between, to undo changes. */
export function exchangeParts(
  state: AccountState,
  changes: Iterable<PartChange>,
  settings: ComparisonSettings,
): AccountState {
  const entries: PlacedEntries = { d: new Map(), f: new Map(), g: new Map() }
  for (const [letter, map] of mapsOf(state)) {
    for (const [key, value, place] of map?.placed() ?? []) entries[letter].set(key, [key, value, place])
  }
  return assemble(fieldsOf(state), entries, changes, settings)
}

/** The entries of the maps of an account, in any order. */
type PlacedEntries = Record<MapLetter, Map<string, [key: string, value: AccountPart, place: number]>>

/** Builds the account from these fields and entries, after changes of its parts. */
function assemble(
  fields: Record<string, unknown>,
  placed: PlacedEntries,
  changes: Iterable<PartChange>,
  settings: ComparisonSettings,
): AccountState {
  for (const [name, text] of changes) {
    const key = name.slice(1)
    if (name.charAt(0) === FIELD) {
      if (text === undefined) delete fields[key]
      else fields[key] = JSON.parse(text)
    } else if (text === undefined) placed[letterOf(name)].delete(key)
    else {
      const { value, place } = readEntry(text)
      placed[letterOf(name)].set(key, [key, value, place])
    }
  }
  const [d, f, g] = LETTERS.map((letter) => [...placed[letter].values()].sort(([, , one], [, , other]) => one - other))
  const entries = { d: d ?? [], f: f ?? [], g: g ?? [] }
  const groups = PersistentMap.ofPlaced(entries.g) as AccountState['groups']
  const named = [...groups.values()].map(({ id, name }) => [comparedName(name, settings.nameComparison), id] as const)
  return {
    ...(fields as unknown as AccountState),
    domains: PersistentMap.ofPlaced(entries.d) as AccountState['domains'],
    ...(entries.f.length > 0 && {
      formerDomains: PersistentMap.ofPlaced(entries.f) as NonNullable<AccountState['formerDomains']>,
    }),
    groups,
    groupNames: PersistentMap.of(named),
  }
}

/** The account after these changes of its parts. It shares the unchanged parts with the account before. */
export function applyChanges(
  state: AccountState,
  changes: readonly PartChange[],
  { nameComparison }: ComparisonSettings,
): AccountState {
  const fields: Record<string, unknown> = fieldsOf(state)
  const added: { letter: MapLetter; key: string; value: AccountPart; place: number }[] = []
  const maps: Record<MapLetter, EntryMap> = {
    d: state.domains as EntryMap,
    f: (state.formerDomains ?? PersistentMap.of()) as EntryMap,
    g: state.groups as EntryMap,
  }
  let { groupNames } = state
  for (const [name, text] of changes) {
    const key = name.slice(1)
    if (name.charAt(0) === FIELD) {
      if (text === undefined) delete fields[key]
      else fields[key] = JSON.parse(text)
      continue
    }
    const letter = letterOf(name)
    const former = letter === 'g' ? state.groups.get(key) : undefined
    if (former !== undefined) groupNames = groupNames.delete(comparedName(former.name, nameComparison))
    if (text === undefined) maps[letter] = maps[letter].delete(key)
    else added.push({ letter, key, ...readEntry(text) })
  }
  // New entries follow all others, in the order of their places.
  for (const { letter, key, value, place } of added.sort((one, other) => one.place - other.place)) {
    maps[letter] = maps[letter].put(key, value, place)
    if (letter !== 'g') continue
    groupNames = groupNames.set(comparedName((value as DomainGroup).name, nameComparison), key)
  }
  return {
    ...(fields as unknown as AccountState),
    domains: maps.d as AccountState['domains'],
    ...(maps.f.size > 0 && { formerDomains: maps.f as NonNullable<AccountState['formerDomains']> }),
    groups: maps.g as AccountState['groups'],
    groupNames,
  }
}

function fieldsOf(state: AccountState): Record<string, unknown> {
  const { domains: _, formerDomains: __, groups: ___, groupNames: ____, ...fields } = state
  return fields
}

function mapsOf(state: AccountState): [letter: MapLetter, map: EntryMap | undefined][] {
  return [
    ['d', state.domains as EntryMap],
    ['f', state.formerDomains as EntryMap | undefined],
    ['g', state.groups as EntryMap],
  ]
}

function letterOf(name: string): MapLetter {
  const letter = LETTERS.find((each) => name.startsWith(each))
  if (letter !== undefined) return letter
  throw new Error(`An account has no part "${name}"`)
}

function writeEntry(value: AccountPart, place: number): string {
  return `[${place},${JSON.stringify(value)}]`
}

function readEntry(text: string): { value: AccountPart; place: number } {
  const [place, value] = JSON.parse(text) as [number, AccountPart]
  return { value, place }
}
