import type { Write } from './report.ts'

interface FormatEntry {
  /** The usual extension of its files. */
  readonly ending: string
  /** Loads the format only when it is used. */
  load(): Promise<Write>
}

/** Writes only the JSON report of the command, because `docs/schemas` describes its shape. */
const writeJson: Write = ({ json }) => `${JSON.stringify(json, undefined, 2)}\n`

const ENTRIES = {
  json: { ending: 'json', load: async () => writeJson },
  junit: { ending: 'xml', load: async () => (await import('./junit.ts')).writeJUnitReport },
  sarif: { ending: 'sarif', load: async () => (await import('./sarif.ts')).writeSarifReport },
  html: { ending: 'html', load: async () => (await import('./html.ts')).writeHtmlReport },
  markdown: { ending: 'md', load: async () => (await import('./markdown.ts')).writeMarkdownReport },
} as const satisfies Record<string, FormatEntry>

export type ReportFormat = keyof typeof ENTRIES

export const FORMATS: Readonly<Record<ReportFormat, FormatEntry>> = ENTRIES

export const FORMAT_NAMES = Object.keys(ENTRIES) as ReportFormat[]
