import { findById } from './elements.ts'
import type { Facts } from './responses.ts'

// The server writes the facts into the page.
export const FACTS: Facts = JSON.parse(findById('facts', HTMLScriptElement).text)
export const BASE_URL = location.origin + FACTS.basePath
