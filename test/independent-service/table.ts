import { DEPARTURES, type Departure } from './departures.ts'
import { accusationsIn, check, idsOf, verifyService } from './judging.ts'
import { MISSED, OPEN, type Tool } from './known.ts'
import { play, Twins } from './playing.ts'
import { PLAIN } from './profile.ts'
import { type Session, thoroughSession, usualSession } from './sessions.ts'

export const TOOLS = ['verify', 'usual', 'thorough'] as const satisfies readonly Tool[]
const SESSIONS = { usual: usualSession, thorough: thoroughSession }

export type Cell = 'found' | 'sole writer' | 'not shown' | 'open' | 'missed'

const WORDS: Readonly<Record<Cell, string>> = {
  found: 'found',
  'sole writer': 'found with `--sole-writer`',
  'not shown': 'not shown',
  open: 'open',
  missed: '**missed**',
}

const BEGINS = '<!-- departures -->\n'
const ENDS = '<!-- end of the departures -->'
/** Somebody else's, who must get them back. */
const THEIRS = ['a.other.example', 'b.other.example']

/** What the honest service is accused of in the same session; that is no discovery. */
const honest = new Map<string, Promise<ReadonlySet<string>>>()

function accusedHonestly(what: string, accusations: () => Promise<readonly string[]>): Promise<ReadonlySet<string>> {
  const known = honest.get(what) ?? accusations().then((found) => new Set(idsOf(found)))
  honest.set(what, known)
  return known
}

async function isFoundByCheck(name: keyof typeof SESSIONS, departure: Departure, isSoleWriter: boolean) {
  const session: Session = SESSIONS[name]
  const accusationsOf = async (service: Twins) => accusationsIn(await check(play(session, service), { isSoleWriter }))
  const usual = await accusedHonestly(`${name} ${isSoleWriter}`, () => accusationsOf(new Twins(PLAIN)))
  return idsOf(await accusationsOf(new Twins(PLAIN, departure))).some((id) => !usual.has(id))
}

async function cellOf(tool: Tool, departure: Departure): Promise<Cell> {
  const twins = new Twins(PLAIN, departure, tool === 'verify' ? THEIRS : [])
  if (tool === 'verify') {
    const failuresOf = async (service: Twins) => (await verifyService(service)).failures
    const usual = await accusedHonestly('verify', () => failuresOf(new Twins(PLAIN, undefined, THEIRS)))
    if (idsOf(await failuresOf(twins)).some((id) => !usual.has(id))) return 'found'
  } else {
    play(SESSIONS[tool], twins)
    if (await isFoundByCheck(tool, departure, false)) return 'found'
    if (await isFoundByCheck(tool, departure, true)) return 'sole writer'
  }
  if (twins.shown === undefined) return 'not shown'
  return OPEN[tool][departure.id] === undefined ? 'missed' : 'open'
}

/** What each tool finds of a departure, as a line of the table. */
export async function rowOf(departure: Departure): Promise<string> {
  const cells: Cell[] = []
  for (const tool of TOOLS) cells.push(await cellOf(tool, departure))
  return writeRow(departure, cells)
}

function writeRow({ does, breaks }: Departure, cells: readonly Cell[]): string {
  const words = cells.map((cell) => WORDS[cell])
  return `| ${[does, breaks, ...words].map((each) => each.replaceAll('|', '\\|')).join(' | ')} |`
}

/** The lines of the table that a page has, by departure. */
export function readTable(page: string): ReadonlyMap<string, { line: string; cells: readonly Cell[] }> {
  const table = page.slice(page.indexOf(BEGINS) + BEGINS.length, page.indexOf(ENDS))
  const lines = table.split('\n')
  const cellNamed = (word: string) => (Object.keys(WORDS) as Cell[]).find((cell) => WORDS[cell] === word.trim())
  return new Map(
    DEPARTURES.flatMap((departure) => {
      const line = lines.find((each) => each.startsWith(`| ${departure.does} |`))
      const cells = line
        ?.split(' | ')
        .slice(-TOOLS.length)
        .map((each) => cellNamed(each.replace(/ \|$/, '')) ?? 'missed')
      return line === undefined || cells === undefined ? [] : [[departure.id, { line, cells }]]
    }),
  )
}

/** The page with these lines in the place of its table. */
export function writeTable(page: string, lines: readonly string[]): string {
  const heads = [
    'what the service does',
    'what it breaks',
    '`verify`',
    '`check` of a usual day',
    '`check` of everything',
  ]
  const table = [`| ${heads.join(' | ')} |`, `|${heads.map(() => '---').join('|')}|`, ...lines].join('\n')
  const before = page.slice(0, page.indexOf(BEGINS) + BEGINS.length)
  return `${before}\n${table}\n\n${page.slice(page.indexOf(ENDS))}`
}

/** Cells of the table that say `missed`, as `known.ts` names them. */
export function missedIn(page: string): string[] {
  return [...readTable(page)].flatMap(([id, { cells }]) =>
    cells.flatMap((cell, index) => (cell === 'missed' ? [`${TOOLS[index]} ${id}`] : [])),
  )
}

export { MISSED }
