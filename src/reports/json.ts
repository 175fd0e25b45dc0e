import type { Write } from './report.ts'

/** The command's own report and nothing else, so that the shape is that of `docs/schemas`. */
export const writeJsonReport: Write = ({ json }) => `${JSON.stringify(json, undefined, 2)}\n`
