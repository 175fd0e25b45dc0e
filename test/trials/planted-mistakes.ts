import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInProcess } from '../support/program-in-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A mistake that the clients `clients/upkeep.*` make if they are told to, and what the tool that finds it says. */
export interface Mistake {
  /** The argument of the client; without one, it makes no mistake. */
  id?: string
  does: string
  tool: Tool
  finds: string
  /** Where not all clients do the same. */
  inJavaScript?: string
  /** How many runs `explore` may need. */
  runs?: number
  /** The domains that the client wants, if they are not its own. */
  wanted?: string
}

const MANY = Array.from({ length: 51 }, (_, index) => `host-${index}.example.com`)
const wanted = ['shop.example.com', 'mail.example.com', ...MANY].join(' ')
const STATUSES = 'depends add-domains-status, depends create-group-status, depends delete-domains-status'

const vary = (id: string, does: string, finds: string): Mistake => ({ id, does, tool: 'vary', finds })
const explore = (id: string, does: string, finds: string, runs: number): Mistake => ({
  ...{ id, does, tool: 'explore', finds, runs },
})

/** The table in docs/trials.md has these rows, those of 401 and 403 as one. */
export const MISTAKES: readonly Mistake[] = [
  explore('no-retry', 'does not look again after a lost response', 'false failure (lost-response)', 10),
  explore(
    'blind-retry',
    'sends a request again without a look, and fails with 409',
    'false failure (lost-response)',
    10,
  ),
  vary('only-200', 'takes only the status 200 for a success', STATUSES),
  {
    ...explore('reset-as-seconds', 'waits for as many seconds as X-RateLimit-Reset says', 'hang (refusal)', 30),
    inJavaScript: 'storm (quota)',
  },
  vary('order', 'expects the records in the order of its list', 'depends record-order'),
  vary('case', 'expects names in lower case', 'depends canonical-form'),
  explore('batch', 'leaves out the domains of a refused request', 'wrong success (refusal)', 10),
  explore('401', 'ends with 0 after a 401', 'wrong success (refusal)', 100),
  explore('storm', 'tries 20 times without a wait', 'storm (quota)', 30),
  {
    ...{ id: 'too-many', does: 'sends more than 50 domains in a request', wanted },
    ...{ tool: 'run', finds: 'violation request_too_large' },
  },
  explore('in-use', 'takes a domain in use for removed', 'wrong success (refusal)', 10),
  explore('fixed-sleep', 'waits 3 seconds after a 429', 'storm (quota)', 30),
  vary('number-as-text', 'compares a percentage with the text 100.0', 'depends decimals, depends percentages'),
  vary(
    'unknown-policy',
    'cannot handle an unknown policy',
    'depends policies-without-record, depends unprocessed-domains',
  ),
  explore('403', 'ends with 0 after a 403', 'wrong success (refusal)', 100),
]

/** Those that are found soon, one for each tool at least. */
export const QUICK = MISTAKES.filter(({ id = '', runs }) => ['too-many', 'case'].includes(id) || runs === 10)

/** Clients in which no tool finds anything, whatever it tries. */
export const GOOD: readonly Omit<Mistake, 'tool' | 'finds'>[] = [
  { does: 'no mistake' },
  { does: 'no mistake, with 53 domains', wanted },
]

const PROGRAMS = {
  JavaScript: [process.execPath, 'mjs'],
  Python: ['python3', 'py'],
  shell: ['sh', 'sh'],
} as const
export type Language = keyof typeof PROGRAMS
export const TOOLS = ['run', 'vary', 'explore'] as const
type Tool = (typeof TOOLS)[number]

const CLIENTS = join(import.meta.dirname, 'clients')

/** What a tool finds in a client, in a few words. */
export async function findingsIn(
  tool: Tool,
  { id, wanted, runs }: Pick<Mistake, 'id' | 'wanted' | 'runs'>,
  language: Language,
): Promise<string> {
  const [program, ending] = PROGRAMS[language]
  const file = join(temporaryFolder(), 'report.json')
  const most = runs === undefined ? [] : ['--runs', `${runs}`]
  const options: Record<Tool, readonly string[]> = {
    run: [],
    vary: ['--jobs', '2'],
    explore: ['--jobs', '4', '--seed', '1', '--budget', '1h', '--window', '1s', ...most],
  }
  const client = [program, join(CLIENTS, `upkeep.${ending}`), ...(id === undefined ? [] : [id])]
  // Under `run`, a client prints where the tests print.
  const quiet = tool === 'run' ? ['sh', '-c', 'exec "$@" >/dev/null 2>&1', 'sh'] : []
  const args = ['--fixture', join(CLIENTS, 'upkeep.json'), '--report', `json=${file}`, ...options[tool]]
  await runInProcess([tool, ...args, '--', ...quiet, ...client], {
    environment: wanted === undefined ? {} : { WANTED: wanted },
  })
  return [...new Set(FINDINGS[tool](JSON.parse(readFileSync(file, 'utf8'))))].toSorted().join(', ')
}

/** What the reports of the tools have of their findings. */
interface Found {
  exit_code: number
  verdict: { violations: { by_code: Readonly<Record<string, number>> } }
  alternatives: readonly { id: string; verdict: string }[]
  findings: readonly { id: string }[]
}

const FINDINGS: Readonly<Record<Tool, (report: Found) => string[]>> = {
  run: ({ verdict, exit_code }) => [
    ...Object.keys(verdict.violations.by_code).map((code) => `violation ${code}`),
    ...(exit_code === 0 ? [] : ['the client fails']),
  ],
  vary: ({ alternatives }) =>
    alternatives
      .filter(({ verdict }) => verdict !== 'tolerates' && verdict !== 'not reached')
      .map(({ id, verdict }) => `${verdict} ${id}`),
  explore: ({ findings }) =>
    findings.map(({ id }) => {
      const [verdict = '', cause] = id.split('/')
      return `${verdict.replaceAll('-', ' ')} (${cause})`
    }),
}
