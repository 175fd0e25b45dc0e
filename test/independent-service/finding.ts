import { type Departure, needsManyRequests } from './departures.ts'
import { accusationsIn, check, idsOf, verifyService } from './judging.ts'
import { OPEN, type Tool } from './known.ts'
import { play, Twins } from './playing.ts'
import { PLAIN } from './profile.ts'
import { thoroughSession, usualSession } from './sessions.ts'

const SESSIONS = { usual: usualSession, thorough: thoroughSession }

/**
 * What a tool says of a departure: it is found, or only when nobody else may write, or under another name; no answer is
 * another than that of the honest service; another admissible service would answer in the same way; or it is missed.
 */
export type Cell = 'found' | 'sole writer' | 'misnamed' | 'not shown' | 'open' | 'missed'

/** Somebody else's, who must get them back. */
export const THEIRS = ['a.other.example', 'b.other.example']

/** What the honest service is accused of in the same session; that is no discovery. */
const honest = new Map<string, Promise<ReadonlySet<string>>>()

function accusedHonestly(what: string, accusations: () => Promise<readonly string[]>): Promise<ReadonlySet<string>> {
  const known = honest.get(what) ?? accusations().then((found) => new Set(idsOf(found)))
  honest.set(what, known)
  return known
}

/** The ids of what `check` finds that the honest service is not accused of. */
async function foundByCheck(name: keyof typeof SESSIONS, twins: Twins, isSoleWriter: boolean) {
  const accusationsOf = async (service: Twins) =>
    accusationsIn(await check(play(SESSIONS[name], service), { isSoleWriter }))
  const usual = await accusedHonestly(`${name} ${isSoleWriter}`, () => accusationsOf(new Twins(PLAIN)))
  return idsOf(await accusationsOf(twins)).filter((id) => !usual.has(id))
}

/** The same for `verify`. To use up the quotas takes half of all requests, so it does that only where it must. */
async function foundByVerify(twins: Twins, departure: Departure) {
  const failuresOf = async (service: Twins, exhaust: boolean) => (await verifyService(service, { exhaust })).failures
  const usual = await accusedHonestly('verify', () => failuresOf(new Twins(PLAIN, undefined, THEIRS), true))
  return idsOf(await failuresOf(twins, needsManyRequests(departure))).filter((id) => !usual.has(id))
}

export async function cellOf(tool: Tool, departure: Departure): Promise<Cell> {
  const twins = new Twins(PLAIN, departure, tool === 'verify' ? THEIRS : [])
  const found = await (tool === 'verify' ? foundByVerify(twins, departure) : foundByCheck(tool, twins, false))
  if (found.length > 0) return found.some((id) => departure.found?.test(id)) ? 'found' : 'misnamed'
  if (twins.shown === undefined) return 'not shown'
  if (OPEN[tool][departure.id] !== undefined) return 'open'
  const alone = tool === 'verify' ? [] : await foundByCheck(tool, new Twins(PLAIN, departure), true)
  return alone.length > 0 ? 'sole writer' : 'missed'
}
