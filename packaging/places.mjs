import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../', import.meta.url))
/** What is sent to users. */
export const ARTIFACTS = fileURLToPath(new URL('../artifacts/', import.meta.url))
/** What is fetched and made on the way, and can be made again. */
export const CACHE = fileURLToPath(new URL('../node_modules/.cache/dmarc-understudy/', import.meta.url))
