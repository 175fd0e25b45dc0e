import type { CallId, PageFacts } from './responses.ts'

// The server writes the facts into the page.
export const FACTS: PageFacts = JSON.parse(document.getElementById('facts')?.textContent ?? '{}')
export const BASE_URL = location.origin + FACTS.basePath

/** Whether the server offers an operation. A proxy offers few, because it knows only requests. */
export function isOffered(id: CallId): boolean {
  return FACTS.offers?.includes(id) ?? true
}

/** Whether the server simulates the service and so has accounts to change. A proxy only observes a service. */
export const PLAYS_SERVICE = FACTS.offers === null
