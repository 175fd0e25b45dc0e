import { isObject, type Json } from '../ground/json.ts'
import { comparable } from './purpose.ts'

/** What a response says, in parts that depend on different choices. Equal texts have the same meaning. */
export interface DataParts {
  /** The content without its order and spelling. Human-readable texts and figures are left out. */
  content: string
  /** The order of its lists. */
  order: string
  /** The spelling of its domains. */
  spelling: string
}

/** Splits the `data` of a success into its parts. */
function viewData(data: unknown): DataParts {
  const order: string[] = []
  const spelling: string[] = []
  const content = JSON.stringify(view(data, order, spelling)) ?? ''
  return { content, order: order.join('\n'), spelling: spelling.toSorted().join('\n') }
}

/**
 * The parts of the answer of an operation. A list is judged elsewhere by its known items, so here all lists are equal.
 * The service chooses the ids of groups, so only the type of the id counts.
 */
export function viewAnswer(operation: string | undefined, data: unknown): DataParts {
  if (operation !== undefined && isListing(operation, data)) return LISTING
  if (operation !== 'createDomainGroup') return viewData(data)
  const group = isObject(data) && isObject(data['group']) ? data['group'] : {}
  return viewData({ ...(data as Json), group: { ...group, id: typeof group['id'] } })
}

const LISTING = { content: 'a list', order: '', spelling: '' }

/** Whether a response lists everything that the account has. */
export function isListing(operation: string, data: unknown): boolean {
  if (operation === 'listDomains' || operation === 'listDmarc') return true
  return operation === 'listDomainGroups' && typeof data === 'object' && data !== null && 'groups' in data
}

function view(value: unknown, order: string[], spelling: string[]): unknown {
  if (Array.isArray(value)) return viewList(value, order, spelling)
  if (!isObject(value)) return value
  // The domain identifies a record; other code checks its figures.
  if (typeof value['domain'] === 'string') return comparable(value['domain'])
  const names = Object.keys(value).filter((name) => name !== 'message')
  return Object.fromEntries(names.toSorted().map((name) => [name, view(value[name], order, spelling)]))
}

function viewList(list: readonly unknown[], order: string[], spelling: string[]): unknown {
  const items = list.map((item) => {
    if (typeof item !== 'string') return view(item, order, spelling)
    spelling.push(item)
    return comparable(item)
  })
  order.push(items.map((item) => idOf(item)).join(' '))
  const texts = items.map((item) => [JSON.stringify(item) ?? '', item] as const)
  return texts.toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)).map(([, item]) => item)
}

function idOf(item: unknown): string {
  return isObject(item) ? String(item['id']) : String(item)
}

/** The group that `value` describes; `undefined` if it does not describe one. */
export function groupIn(value: unknown): { id: string; name: string; domains: readonly string[] } | undefined {
  if (!isObject(value)) return undefined
  const { id, name, domains } = value as Json
  if (typeof id !== 'string' || typeof name !== 'string' || !areTexts(domains)) return undefined
  return { id, name, domains }
}

export function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

export function areSameSets(some: readonly string[], others: readonly string[]): boolean {
  const set = new Set(some)
  return set.size === new Set(others).size && others.every((each) => set.has(each))
}
