import type { Facts } from './responses.ts'

// The server writes the facts into the page.
export const FACTS: Facts = JSON.parse(document.getElementById('facts')?.textContent ?? '{}')
export const BASE_URL = location.origin + FACTS.basePath
