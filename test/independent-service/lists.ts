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
  missed: 'missed',
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

/** What each tool finds of a departure. */
export async function cellsOf(departure: Departure): Promise<readonly Cell[]> {
  const cells: Cell[] = []
  for (const tool of TOOLS) cells.push(await cellOf(tool, departure))
  return cells
}

/** The departures of which the tools find the same are one list, under this heading. */
function writeHeading(cells: readonly Cell[]): string {
  const [verify, usual, thorough] = cells.map((cell) => WORDS[cell])
  return `**\`verify\`: ${verify}; a usual day: ${usual}; everything: ${thorough}**`
}

/** What the lists of a page say, by departure. */
export function readLists(page: string): ReadonlyMap<string, readonly Cell[]> {
  const named = new Map(Object.entries(WORDS).map(([cell, word]) => [word, cell as Cell]))
  const said = new Map<string, readonly Cell[]>()
  let cells: readonly Cell[] = []
  for (const line of page.slice(page.indexOf(BEGINS) + BEGINS.length, page.indexOf(ENDS)).split('\n')) {
    if (line.startsWith('- ')) said.set(line.slice(2), cells)
    else if (line !== '')
      cells = [...line.matchAll(/: (.+?)(?=;|\*\*$)/g)].map(([, word = '']) => named.get(word) ?? 'missed')
  }
  return new Map(
    DEPARTURES.flatMap(({ id, does }) => {
      const found = said.get(does)
      return found === undefined ? [] : [[id, found]]
    }),
  )
}

/** The page with these findings in the place of its lists: first what all tools find. */
export function writeLists(page: string, found: ReadonlyMap<string, readonly Cell[]>): string {
  const ranks = Object.keys(WORDS)
  const rankOf = (cells: readonly Cell[]) => cells.map((cell) => ranks.indexOf(cell)).join('')
  const ranked = DEPARTURES.toSorted((one, other) =>
    rankOf(found.get(one.id) ?? []).localeCompare(rankOf(found.get(other.id) ?? [])),
  )
  const headings = ranked.map(({ id }) => writeHeading(found.get(id) ?? []))
  const lists = ranked.map(({ does }, index) => {
    const heading = headings[index]
    const isFirst = heading !== headings[index - 1]
    return `${isFirst ? `\n${heading}\n\n` : ''}- ${does}\n`
  })
  const before = page.slice(0, page.indexOf(BEGINS) + BEGINS.length)
  return `${before}${lists.join('')}\n${page.slice(page.indexOf(ENDS))}`
}

/** What the lists should not say, as `known.ts` names it. `verify` should ask for everything. */
export function shameIn(page: string): string[] {
  return [...readLists(page)].flatMap(([id, cells]) =>
    cells.flatMap((cell, index) => {
      const isShame = cell === 'missed' || cell === 'misnamed' || (cell === 'not shown' && TOOLS[index] === 'verify')
      return isShame ? [`${TOOLS[index]} ${id}: ${cell}`] : []
    }),
  )
}
