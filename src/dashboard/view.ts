import { batch, signal } from '@preact/signals'
import { openTab, type Tab } from './selection.ts'

/** The subject to show in a view. */
export interface LookedAt {
  /** A monitored domain in canonical form. */
  domain?: string | undefined
  /** The name of a group. */
  group?: string | undefined
  /** A text for the search of the view. */
  search?: string | undefined
  /** The X-Request-Id of a request. */
  request?: string | undefined
}

/**
 * The request to the open view to show a subject. The responsible view shows it (it opens the sheet of the domain or
 * fills its search) and calls `takeLook`. If no view takes it, it stays until the next request.
 */
export const lookedAt = signal<LookedAt | undefined>(undefined)

/**
 * Opens a tab, or stays on the open one, and asks its view to show a subject. Without a domain, a group or a request,
 * the view closes its open sheet. Without a search, it clears its search.
 */
export function show({ tab, ...what }: LookedAt & { tab?: Tab | undefined }): void {
  batch(() => {
    if (tab !== undefined) openTab.value = tab
    lookedAt.value = what
  })
}

/** Returns and clears the request to the view, so that it is handled only once. */
export function takeLook(): LookedAt | undefined {
  const asked = lookedAt.peek()
  lookedAt.value = undefined
  return asked
}
