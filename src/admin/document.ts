import { fileURLToPath } from 'node:url'

/** Path of the control plane's OpenAPI document. */
export const CONTROL_DOCUMENT = fileURLToPath(new URL('../../src/admin/openapi.yaml', import.meta.url))
