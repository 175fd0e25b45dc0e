import { batch, computed, effect, signal } from '@preact/signals'
import { createParameter, keptParameters, type Place } from '../address.ts'
import { call, type Query } from '../client.ts'
import { FACTS } from '../facts.ts'

/** The filter for the server, besides words. */
export interface Conditions {
  violation: boolean
  injected: boolean
  refused: boolean
  /** Empty means all operations. */
  operation: string
}

const NO_CONDITIONS: Conditions = { violation: false, injected: false, refused: false, operation: '' }

/** The rest in which nothing is typed before the server is asked for the words, in milliseconds. */
const MILLISECONDS_OF_REST = 250
/** Whose requests the list has: those of the chosen account, those without an account, or all. */
export type Scope = 'account' | 'none' | 'all'

export const scope = createParameter<Scope>({
  tab: 'requests',
  name: 'whose',
  initial: 'account',
  accepts: (text): text is Scope => text === 'none' || text === 'all' || text === 'account',
})
export const words = createParameter({ tab: 'requests', name: 'search', history: 'replace' })
/** The ordinal before which the page of older requests begins; empty for the newest requests. */
export const before = createParameter({
  tab: 'requests',
  name: 'before',
  accepts: (text): text is string => /^[1-9]\d{0,14}$/.test(text),
})

const createSwitch = (name: 'violation' | 'refused' | 'injected') =>
  createParameter<'' | 'true'>({ tab: 'requests', name, accepts: (text): text is 'true' => text === 'true' })
const switches = {
  violation: createSwitch('violation'),
  refused: createSwitch('refused'),
  injected: createSwitch('injected'),
}
const operation = createParameter({
  tab: 'requests',
  name: 'operation',
  accepts: (text): text is string => FACTS.operations.some(({ id }) => id === text),
})

export const conditions = computed<Conditions>(() => ({
  violation: switches.violation.value === 'true',
  refused: switches.refused.value === 'true',
  injected: switches.injected.value === 'true',
  operation: operation.value,
}))

/** Changes the selection. It begins with the newest requests again. */
export function want(changed: Partial<Conditions> & { words?: string; scope?: Scope }): void {
  batch(() => {
    before.value = ''
    if (changed.words !== undefined) words.value = changed.words
    if (changed.scope !== undefined) scope.value = changed.scope
    for (const [name, value] of Object.entries(switches)) {
      const wanted = changed[name as keyof typeof switches]
      if (wanted !== undefined) value.value = wanted ? 'true' : ''
    }
    if (changed.operation !== undefined) operation.value = changed.operation
  })
}

/** Chooses all requests in this scope. */
export function wantAll(wanted: Scope): void {
  want({ ...NO_CONDITIONS, words: '', scope: wanted })
}

/** The place with the requests before an ordinal; without one, that with the newest requests. */
export function placeBefore(ordinal: number | undefined): Place {
  const { before: _, ...kept } = keptParameters('requests')
  return { parameters: { ...kept, ...(ordinal !== undefined && { before: String(ordinal) }) } }
}

/** The words that the server looks for. They follow those in the field when nothing is typed for a moment. */
export const searched = signal<readonly string[]>([])

function wordsIn(text: string): string[] {
  return [...new Set(text.toLowerCase().slice(0, FACTS.search.characters).split(/\s+/).filter(Boolean))]
}

/** Whether the field has more words than are looked for. */
export function hasTooManyWords(): boolean {
  const { characters, words: most } = FACTS.search
  return words.value.length > characters || wordsIn(words.value).length > most
}

/** Keeps `searched` up to date. The words of an address are looked for at once. */
export function followWords(): void {
  let isFirst = true
  effect(() => {
    const wanted = wordsIn(words.value).slice(0, FACTS.search.words)
    const set = () => {
      if (wanted.join(' ') !== searched.peek().join(' ')) searched.value = wanted
    }
    if (isFirst || wanted.length === 0) {
      isFirst = false
      set()
      return undefined
    }
    const timer = setTimeout(set, MILLISECONDS_OF_REST)
    return () => clearTimeout(timer)
  })
}

/** Asks the server for requests of the selection; with `words: false`, also for those that lack the words. */
export function ask(query: Query, { signal, words: contains = true }: { signal?: AbortSignal; words?: boolean } = {}) {
  const chosen = Object.entries(conditions.peek()).filter(([, value]) => value)
  const account = scope.peek() === 'none' && { account: 'none' }
  const search = contains && searched.peek().length > 0 && { search: searched.peek().join(' ') }
  const request = {
    query: { ...query, ...Object.fromEntries(chosen), ...account, ...search },
    ...(signal && { signal }),
  }
  return call(scope.peek() === 'account' ? 'listRequests' : 'listAllRequests', request)
}
