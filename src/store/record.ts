import type { AccountState, DomainGroup, DomainNature, MonitoredDomain } from '../domain/account.ts'
import { comparedName } from '../domain/groups.ts'
import { PersistentMap } from '../domain/persistent-map.ts'
import type { Settings } from '../domain/settings.ts'
import type { Work } from '../ground/work.ts'

/** An account as plain JSON. Stores keep it outside of the process. */
export interface AccountRecord extends Omit<AccountState, 'domains' | 'formerDomains' | 'groups' | 'groupNames'> {
  domains: readonly MonitoredDomain[]
  formerDomains?: readonly FormerDomain[]
  groups: readonly DomainGroup[]
}

/** A removed domain and its nature. */
export interface FormerDomain {
  name: string
  nature: DomainNature
}

export function encodeAccount(state: AccountState): AccountRecord {
  const { groupNames: _, domains, formerDomains, groups, ...rest } = state
  return {
    ...rest,
    domains: [...domains.values()],
    ...(formerDomains && { formerDomains: listFormer(formerDomains) }),
    groups: [...groups.values()],
  }
}

function listFormer(formerDomains: PersistentMap<string, DomainNature>): FormerDomain[] {
  return [...formerDomains.entries()].map(([name, nature]) => ({ name, nature }))
}

/** A record has no index of group names, because the contract may compare names in another way than before. */
export function decodeAccount(
  record: AccountRecord,
  { nameComparison }: Pick<Settings, 'nameComparison'>,
): AccountState {
  const { formerDomains, ...rest } = record
  const { domains, groups } = record
  const former = formerDomains?.map(({ name, nature }) => [name, nature] as const)
  return {
    ...rest,
    domains: PersistentMap.of(domains.map((domain) => [domain.name, domain] as const)),
    ...(former && { formerDomains: PersistentMap.of(former) }),
    groups: PersistentMap.of(groups.map((group) => [group.id, group] as const)),
    groupNames: PersistentMap.of(groups.map(({ id, name }) => [comparedName(name, nameComparison), id] as const)),
  }
}

/** How many items of a list are written in one step. */
const SLICE = 500

interface ListText {
  list: object
  text: string
  /** The texts of its items, which are immutable: a change replaces them. Absent until the list is written again. */
  items: WeakMap<object, string> | undefined
}

/** The texts of the lists of an account as they were last written. Older states of the account keep no texts. */
export type ListTexts = Partial<Record<'domains' | 'formerDomains' | 'groups', ListText>>

/**
 * The JSON text of an account's record. Parts that have not changed since the last write are not serialized again,
 * because most changes concern one domain or one group of thousands. `last` is what the account wrote before, and is
 * updated. It is work that can pause.
 */
export function* writeAccount(state: AccountState, last: ListTexts): Work<string> {
  const { domains, formerDomains, groups, groupNames: _, ...rest } = state
  const fields = Object.entries(rest satisfies Omit<AccountRecord, 'domains' | 'formerDomains' | 'groups'>)
    .map(
      ([name, value]) => `${JSON.stringify(name)}:${typeof value === 'object' ? write(value) : JSON.stringify(value)}`,
    )
    .join(',')
  const texts = [`"domains":${yield* writeList('domains', domains, writeValue, last)}`]
  if (formerDomains !== undefined) {
    texts.push(`"formerDomains":${yield* writeList('formerDomains', formerDomains, writeFormer, last)}`)
  }
  texts.push(`"groups":${yield* writeList('groups', groups, writeValue, last)}`)
  return `{${fields},${texts.join(',')}}`
}

function* writeList<Value extends object>(
  name: keyof ListTexts,
  list: PersistentMap<string, Value>,
  writeItem: (key: string, value: Value, write: (part: object) => string) => string,
  last: ListTexts,
): Work<string> {
  const known = last[name]
  if (known?.list === list) return known.text
  // Many accounts are written only once. A map of the items of all accounts would at times grow for a whole turn.
  const items = known && (known.items ?? new WeakMap<object, string>())
  const writePart = items === undefined || list.size <= FEW ? JSON.stringify : (part: object) => write(part, items)
  const slices: string[] = []
  let slice: string[] = []
  // A copy, because an iterator over the map would show later changes after a pause.
  for (const [key, value] of [...list.entries()]) {
    slice.push(writeItem(key, value, writePart))
    if (slice.length < SLICE) continue
    slices.push(slice.join(','))
    slice = []
    yield
  }
  if (slice.length > 0) slices.push(slice.join(','))
  const text = `[${slices.join(',')}]`
  last[name] = { list, text, items }
  return text
}

function writeValue(_key: string, value: object, write: (part: object) => string): string {
  return write(value)
}

function writeFormer(name: string, nature: DomainNature, write: (part: object) => string): string {
  return `{"name":${JSON.stringify(name)},"nature":${write(nature)}}`
}

/** Up to this length, a list is written anew: the texts of many small lists would cost the garbage collector more. */
const FEW = 100

/** The texts of the other objects in an account, such as its keys. */
const others = new WeakMap<object, string>()

function write(part: object, texts = others): string {
  let text = texts.get(part)
  if (text === undefined) {
    text = JSON.stringify(part)
    texts.set(part, text)
  }
  return text
}
