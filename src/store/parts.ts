import type { AccountState, DomainGroup, DomainNature, MonitoredDomain } from '../domain/account.ts'
import { comparedName } from '../domain/groups.ts'
import { PersistentMap } from '../domain/persistent-map.ts'
import type { Settings } from '../domain/settings.ts'

/**
 * An account as parts, for stores that keep and send only what changes. A domain, a former domain and a group are a part
 * each, and so is every other field of the account. The value of a part is JSON: of a field as it is, and of an entry of a
 * map the array of its place in the order of insertion and the entry.
 */
export type Part = readonly [name: string, value: string]

/** A part with its new value; `undefined` where the account does not have it any more. */
export type PartChange = readonly [name: string, value: string | undefined]

/** The first letter of the names of fields. */
const FIELD = '.'
/** The first letters of domains, former domains and groups. The names of groups follow from the groups. */
const LETTERS = ['d', 'f', 'g'] as const

type MapLetter = (typeof LETTERS)[number]
type Entry = MonitoredDomain | DomainNature | DomainGroup
type EntryMap = PersistentMap<string, Entry>
type NameSettings = Pick<Settings, 'nameComparison'>

const NO_ENTRIES: EntryMap = PersistentMap.of()

/** The fields on which the plan of a request depends, see `Admission`. */
const PLANNED_BY: ReadonlySet<string> = new Set(
  ['id', 'seed', 'plan', 'keys', 'faults', 'clock'].map((name) => FIELD + name),
)

/** All parts of an account. */
export function* partsOf(state: AccountState): Generator<Part, void, undefined> {
  for (const [name, value] of Object.entries(fieldsOf(state))) {
    if (value !== undefined) yield [FIELD + name, JSON.stringify(value)]
  }
  for (const [letter, map] of mapsOf(state)) {
    for (const [key, value, place] of map?.placed() ?? []) yield [letter + key, writeEntry(value, place)]
  }
}

/** What makes one state of an account the other, and that state as the changes make it. */
export interface Comparison {
  changes: PartChange[]
  /** The later state. Where it was not made from the earlier one, its entries have other places, in the same order. */
  state: AccountState
}

/**
 * Compares an account with what it becomes. It costs what differs where the later state was made from the earlier one,
 * and what both hold otherwise.
 */
export function compareStates(before: AccountState, after: AccountState, settings: NameSettings): Comparison {
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
 * The keys whose entries differ between maps of which neither was made from the other, each with the place that it gets;
 * without one where it is removed. Entries that are in order stay where they are. The first one that is not, and all
 * after it, come after all others.
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
      if (writeEntry(value, place) !== writeEntry(before.get(key) as Entry, place)) moves.push([key, place])
    }
  }
  return moves
}

/** Whether a change may alter what a request plans, see `Admission`. */
export function changesPlans(changes: readonly PartChange[]): boolean {
  return changes.some(([name]) => PLANNED_BY.has(name))
}

/** The account that has these parts, in any order. @throws Error for what is no account */
export function joinParts(parts: Iterable<Part>, settings: NameSettings): AccountState {
  return assemble({}, { d: new Map(), f: new Map(), g: new Map() }, parts, settings)
}

/**
 * The account with other parts in place of those that it has, in maps of its own. Unlike `applyChanges`, it takes entries
 * that come between others, as they do where changes are undone.
 */
export function exchangeParts(
  state: AccountState,
  changes: Iterable<PartChange>,
  settings: NameSettings,
): AccountState {
  const entries: PlacedEntries = { d: new Map(), f: new Map(), g: new Map() }
  for (const [letter, map] of mapsOf(state)) {
    for (const [key, value, place] of map?.placed() ?? []) entries[letter].set(key, [key, value, place])
  }
  return assemble(fieldsOf(state), entries, changes, settings)
}

/** The entries of the maps of an account, in any order. */
type PlacedEntries = Record<MapLetter, Map<string, [key: string, value: Entry, place: number]>>

/** The account of these fields and entries, after changes of its parts. */
function assemble(
  fields: Record<string, unknown>,
  placed: PlacedEntries,
  changes: Iterable<PartChange>,
  settings: NameSettings,
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

/** The account after these changes of its parts. It shares with the account before them what has not changed. */
export function applyChanges(
  state: AccountState,
  changes: readonly PartChange[],
  { nameComparison }: NameSettings,
): AccountState {
  const fields: Record<string, unknown> = fieldsOf(state)
  const added: { letter: MapLetter; key: string; value: Entry; place: number }[] = []
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
  // New entries come after all others, each at its place.
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

function writeEntry(value: Entry, place: number): string {
  return `[${place},${JSON.stringify(value)}]`
}

function readEntry(text: string): { value: Entry; place: number } {
  const [place, value] = JSON.parse(text) as [number, Entry]
  return { value, place }
}
