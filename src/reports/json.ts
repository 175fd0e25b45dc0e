import type { Write } from './report.ts'

/** Writes only the JSON report of the command, because `docs/schemas` describes its shape. */
export const writeJsonReport: Write = ({ json }) => `${JSON.stringify(json, undefined, 2)}\n`
