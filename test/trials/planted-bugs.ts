import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInProcess } from '../support/program-in-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A mistake that the clients `clients/upkeep.*` make if they are told to. */
export interface Bug {
  /** The argument of the client; without one, it makes no mistake. */
  id?: string
  does: string
  /** The domains that the client wants, if they are not its own. */
  wanted?: string
}

const MANY = Array.from({ length: 51 }, (_, index) => `host-${index}.example.com`)
const wanted = ['shop.example.com', 'mail.example.com', ...MANY].join(' ')

export const GOOD: readonly Bug[] = [{ does: 'no mistake' }, { does: 'no mistake, with 53 domains', wanted }]

export const BUGS: readonly Bug[] = [
  { id: 'no-retry', does: 'does not look again after a lost response' },
  { id: 'blind-retry', does: 'sends a request again without a look, and fails with 409' },
  { id: 'only-200', does: 'takes only the status 200 for a success' },
  { id: 'reset-as-seconds', does: 'waits for as many seconds as `X-RateLimit-Reset` says' },
  { id: 'order', does: 'expects the records in the order of its list' },
  { id: 'case', does: 'expects names in lower case' },
  { id: 'batch', does: 'leaves out the domains of a refused request' },
  { id: '401', does: 'ends with 0 after a 401' },
  { id: 'storm', does: 'tries 20 times without a wait' },
  // `vary` and `explore` need a client that succeeds.
  { id: 'too-many', does: 'sends more than 50 domains in a request', wanted },
  { id: 'in-use', does: 'takes a domain in use for removed' },
  { id: 'fixed-sleep', does: 'waits 3 seconds after a 429' },
  { id: 'number-as-text', does: 'compares a percentage with the text `100.0`' },
  // The shell client names the policy and ends with 1, so for `explore` it gave up.
  { id: 'unknown-policy', does: 'cannot handle an unknown policy' },
  { id: '403', does: 'ends with 0 after a 403' },
]

const LANGUAGES = {
  JavaScript: [process.execPath, 'mjs'],
  Python: ['python3', 'py'],
  shell: ['sh', 'sh'],
} as const satisfies Readonly<Record<string, readonly [program: string, ending: string]>>
export type Language = keyof typeof LANGUAGES
const TOOLS = ['run', 'vary', 'explore'] as const
export type Tool = (typeof TOOLS)[number]

const CLIENTS = join(import.meta.dirname, 'clients')
const NOTHING = '–'

/** What `explore` finds is found within these runs. Good clients get as many as they need. */
const RUNS = 100

/** What a tool says about a client with a mistake, in a few words. `runs` limits those of `explore`. */
export async function verdictOf(tool: Tool, { id, wanted }: Bug, language: Language, runs?: number): Promise<string> {
  const [program, ending] = LANGUAGES[language]
  const file = join(temporaryFolder(), 'report.json')
  const most = runs ?? (id === undefined ? undefined : RUNS)
  const options: Record<Tool, readonly string[]> = {
    run: [],
    vary: ['--jobs', '2'],
    explore: [
      '--jobs',
      '4',
      '--seed',
      '1',
      '--budget',
      '1h',
      '--window',
      '1s',
      ...(most === undefined ? [] : ['--runs', `${most}`]),
    ],
  }
  const client = [program, join(CLIENTS, `upkeep.${ending}`), ...(id === undefined ? [] : [id])]
  // Under `run`, a client prints where the tests print.
  const quiet = tool === 'run' ? ['sh', '-c', 'exec "$@" >/dev/null 2>&1', 'sh'] : []
  const args = ['--fixture', join(CLIENTS, 'upkeep.json'), '--report', `json=${file}`, ...options[tool]]
  const { code, stderr } = await runInProcess([tool, ...args, '--', ...quiet, ...client], {
    environment: wanted === undefined ? {} : { WANTED: wanted },
  })
  if (tool !== 'run' && /although nothing is varied|without any fault/.test(stderr)) return 'the client fails'
  const found = [...new Set(FINDINGS[tool](JSON.parse(readFileSync(file, 'utf8'))))].toSorted().join(', ')
  if (code === 0 || found !== '') return found === '' ? NOTHING : found
  return /^(?:FAILED|INCONCLUSIVE) .*/m.exec(stderr)?.[0] ?? stderr
}

/** What the reports of the tools have of their findings. */
interface Found {
  exit_code: number
  verdict: { violations: { by_code: Readonly<Record<string, number>> } }
  alternatives: readonly { id: string; alternative: number; verdict: string }[]
  findings: readonly { id: string }[]
}

const FINDINGS: Readonly<Record<Tool, (report: Found) => string[]>> = {
  run: ({ verdict, exit_code }) => [
    ...Object.keys(verdict.violations.by_code).map((code) => `violation \`${code}\``),
    ...(exit_code === 0 ? [] : ['the client fails']),
  ],
  vary: ({ alternatives }) =>
    alternatives
      .filter(({ verdict }) => verdict !== 'tolerates' && verdict !== 'not reached')
      .map(({ id, verdict }) => `${verdict} \`${id}\``),
  // The operations, which the id ends with, would fill the table.
  explore: ({ findings }) =>
    findings.map(({ id }) => {
      const [verdict = '', cause] = id.split('/')
      return `${verdict.replaceAll('-', ' ')} (${cause})`
    }),
}

/** What each tool says about the three clients with a mistake, as a line of the table. */
export async function rowOf(bug: Bug): Promise<string> {
  const cells: string[] = []
  for (const tool of TOOLS) {
    const languages = Object.keys(LANGUAGES) as Language[]
    const said = await Promise.all(languages.map((language) => verdictOf(tool, bug, language)))
    const isSame = said.every((each) => each === said[0])
    cells.push((isSame ? said.slice(0, 1) : said.map((each, index) => `${languages[index]}: ${each}`)).join('; '))
  }
  return `| ${[bug.does, ...cells].join(' | ')} |`
}

const BEGINS = '<!-- planted bugs -->\n'
const ENDS = '<!-- end of the planted bugs -->'

/** What a page says that a tool finds of a mistake. */
export function readCell(page: string, tool: Tool, { does }: Bug): string | undefined {
  const line = page.split('\n').find((each) => each.startsWith(`| ${does} | `))
  return line?.replace(/ \|$/, '').split(' | ')[1 + TOOLS.indexOf(tool)]
}

/** The page with these lines in the place of its table. */
export function writeTable(page: string, lines: readonly string[]): string {
  const heads = ['the client', ...TOOLS.map((tool) => `\`${tool}\``)]
  const table = [`| ${heads.join(' | ')} |`, `|${heads.map(() => '---').join('|')}|`, ...lines].join('\n')
  const before = page.slice(0, page.indexOf(BEGINS) + BEGINS.length)
  return `${before}\n${table}\n\n${page.slice(page.indexOf(ENDS))}`
}
