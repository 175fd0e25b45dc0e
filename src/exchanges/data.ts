import type { ShownData } from '../behaviour/shown-data.ts'
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
 * The service chooses the ids of new groups, so only the type of such an id counts.
 */
export function viewAnswer(data: unknown, { lists, isNew }: ShownData): DataParts {
  if (lists !== undefined) return LISTING
  if (!isNew) return viewData(data)
  const group = isObject(data) && isObject(data['group']) ? data['group'] : {}
  return viewData({ ...(data as Json), group: { ...group, id: typeof group['id'] } })
}

const LISTING = { content: 'a list', order: '', spelling: '' }

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

export function areSameSets(some: readonly string[], others: readonly string[]): boolean {
  const set = new Set(some)
  return set.size === new Set(others).size && others.every((each) => set.has(each))
}
