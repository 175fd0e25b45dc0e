import { DEPARTURES, type Departure, NEEDS_MANY_REQUESTS } from './departures.ts'
import { accusationsIn, check, idsOf, verifyService } from './judging.ts'
import { NAMES, OPEN, type Tool } from './known.ts'
import { play, Twins } from './playing.ts'
import { PLAIN } from './profile.ts'
import { type Session, thoroughSession, usualSession } from './sessions.ts'

const TOOLS = ['verify', 'usual', 'thorough'] as const satisfies readonly Tool[]
const SESSIONS = { usual: usualSession, thorough: thoroughSession }

export type Cell = 'found' | 'sole writer' | 'misnamed' | 'not shown' | 'open' | 'missed'

const WORDS: Readonly<Record<Cell, string>> = {
  found: 'found',
  'sole writer': 'found with `--sole-writer`',
  misnamed: 'found as something else',
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

/** The ids of what `check` finds that the honest service is not accused of. */
async function foundByCheck(name: keyof typeof SESSIONS, departure: Departure, isSoleWriter: boolean) {
  const session: Session = SESSIONS[name]
  const accusationsOf = async (service: Twins) => accusationsIn(await check(play(session, service), { isSoleWriter }))
  const usual = await accusedHonestly(`${name} ${isSoleWriter}`, () => accusationsOf(new Twins(PLAIN)))
  return idsOf(await accusationsOf(new Twins(PLAIN, departure))).filter((id) => !usual.has(id))
}

/** The same for `verify`. To use up the quotas takes half of all requests, so it does that only where it must. */
async function foundByVerify(twins: Twins, departure: Departure) {
  const failuresOf = async (service: Twins, exhaust: boolean) => (await verifyService(service, { exhaust })).failures
  const usual = await accusedHonestly('verify', () => failuresOf(new Twins(PLAIN, undefined, THEIRS), true))
  return idsOf(await failuresOf(twins, NEEDS_MANY_REQUESTS.has(departure))).filter((id) => !usual.has(id))
}

async function cellOf(tool: Tool, departure: Departure): Promise<Cell> {
  const twins = new Twins(PLAIN, departure, tool === 'verify' ? THEIRS : [])
  if (tool !== 'verify') play(SESSIONS[tool], twins)
  const name = new RegExp(Object.keys(NAMES).find((each) => NAMES[each]?.includes(departure.id)) ?? '')
  const called = (ids: readonly string[], cell: Cell) => (ids.some((id) => name.test(id)) ? cell : 'misnamed')
  const found = await (tool === 'verify' ? foundByVerify(twins, departure) : foundByCheck(tool, departure, false))
  if (found.length > 0) return called(found, 'found')
  if (twins.shown === undefined) return 'not shown'
  if (OPEN[tool][departure.id] !== undefined) return 'open'
  const alone = tool === 'verify' ? [] : await foundByCheck(tool, departure, true)
  return alone.length > 0 ? called(alone, 'sole writer') : 'missed'
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

/** Cells of the table that should say something else, as `known.ts` names them. `verify` should ask for everything. */
export function shameIn(page: string): string[] {
  return [...readTable(page)].flatMap(([id, { cells }]) =>
    cells.flatMap((cell, index) => {
      const isShame = cell === 'missed' || cell === 'misnamed' || (cell === 'not shown' && TOOLS[index] === 'verify')
      return isShame ? [`${TOOLS[index]} ${id}: ${cell}`] : []
    }),
  )
}
