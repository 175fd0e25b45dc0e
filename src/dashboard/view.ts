import { batch, signal } from '@preact/signals'
import { openTab, type Tab } from './selection.ts'

/** What the reader is to look at in a view. */
export interface LookedAt {
  /** A monitored domain, in canonical form. */
  domain?: string | undefined
  /** The name of a group. */
  group?: string | undefined
  /** A text for the search of the view. */
  search?: string | undefined
  /** The X-Request-Id of a request. */
  request?: string | undefined
}

/**
 * What the open view is asked to show. The view that can show it does so (opens the sheet of the domain, fills its search)
 * and calls `takeLook`; what no view takes stays until something else is shown.
 */
export const lookedAt = signal<LookedAt | undefined>(undefined)

/**
 * Opens a tab, or stays on the open one, and asks its view to show something. Without a domain, a group or a request, the
 * view closes the sheet that it has open; without a search, it clears its search.
 */
export function show({ tab, ...what }: LookedAt & { tab?: Tab | undefined }): void {
  batch(() => {
    if (tab !== undefined) openTab.value = tab
    lookedAt.value = what
  })
}

/** What the view is asked to show, which it does now, so that nobody is asked again. */
export function takeLook(): LookedAt | undefined {
  const asked = lookedAt.peek()
  lookedAt.value = undefined
  return asked
}
