import { loadContract } from '../contract/contract.ts'
import { readOverlays } from '../contract/overlay.ts'
import { isObject } from '../ground/json.ts'
import { printable } from '../ground/show.ts'
import type { Report } from '../reports/report.ts'
import type { ReportTarget } from '../reports/targets.ts'
import type { PairRun } from '../trials/beside/pair-run.ts'
import type { PairReportTerms } from '../trials/beside/report.ts'
import { type Schedule, scheduleOf, type Turn } from '../trials/beside/schedule.ts'
import type { PairTerms } from '../trials/beside/session.ts'
import type { PairColumns } from '../trials/beside/story.ts'
import { UsageError } from './errors.ts'
import type { Execution } from './execution.ts'
import { readPlanContent } from './plan-file.ts'

/** The default bound of switches. */
export const SWITCHES = 2
/** The most requests in a plan. */
const LONGEST_PLAN = 100_000
/** How many findings are printed with all their requests. */
const STORIES = 3

/** What `explore` reads from its command line for two commands. */
export interface BesideTerms
  extends Omit<PairTerms, 'contract' | 'environment' | 'onSignal' | 'stop' | 'watch' | 'silence'>,
    Pick<PairReportTerms, 'failOn'> {
  overlays: readonly string[]
  longestWindow: number
  /** The plan of `--replay`. */
  replay: string | undefined
  /** The options that a replay also needs, as words. */
  words: readonly string[]
  targets: readonly ReportTarget[]
}

/** Looks for orders of the requests of two commands that break them. Resolves to the exit code. */
export async function searchOrders(terms: BesideTerms, execution: Execution): Promise<number> {
  const { PairSession } = await import('../trials/beside/session.ts')
  const { describeOrders, describeReplay } = await import('../trials/beside/report.ts')
  const { pairColumns } = await import('../trials/beside/story.ts')
  const contract = await loadContract({
    overlays: await readOverlays(terms.overlays),
    longestWindow: terms.longestWindow,
  })
  const schedule = terms.replay === undefined ? undefined : await readSchedule(terms.replay)
  const { terminal, onSignal, signal: stop } = execution
  const { environment } = terminal
  const session = new PairSession({
    ...{ ...terms, contract, environment, onSignal, stop },
    watch: (text) => execution.show(text),
  })
  try {
    const serial = await session.establish()
    if (typeof serial === 'string') return execution.say(serial, execution.times.interruptedWith ?? 1)
    const { names } = session
    const about = (): PairReportTerms => ({
      ...{ command: terms.command, beside: terms.beside, names, options: terms.words, runs: session.runs },
      ...{ switches: terms.switches, jobs: terms.jobs, failOn: terms.failOn, isStable: serial.orders.isStable },
      ...{ redact: terminal.redact, writeCommandLine: terminal.writeCommandLine },
      ...execution.times,
    })
    const deliver = (report: Report, stories: readonly { title: string; run: PairRun }[]) => {
      execution.progress.end()
      for (const { title, run } of stories) printStory(title, pairColumns(run, names), execution)
      return execution.deliver(report, terms.targets)
    }
    if (schedule === undefined) {
      const found = await session.search(serial)
      const stories = found.findings.slice(0, STORIES).map(({ verdict, run }) => ({ title: verdict, run }))
      return await deliver(describeOrders(found, about()), stories)
    }
    const replayed = await session.replay(schedule, serial)
    if (replayed === undefined) {
      return execution.say('the budget was over before the plan had been tried', execution.times.interruptedWith ?? 1)
    }
    return await deliver(describeReplay(replayed, about()), [{ title: replayed.verdict, run: replayed.run }])
  } finally {
    session.end()
  }
}

function printStory(title: string, { columns, rows }: PairColumns, { terminal }: Execution): void {
  const lines = [columns, ...rows].map(([left, right]) => [printable(left), printable(right)] as const)
  const width = Math.max(...lines.map(([left]) => left.length))
  terminal.printError(`${title}:`)
  for (const [left, right] of lines) {
    terminal.printError(`  ${left}${right === '' ? '' : `${' '.repeat(width - left.length)}   ${right}`}`)
  }
  terminal.printError('')
}

/** Reads the plan of `--replay`: a list of turns, a finding, or a report, whose first finding counts. @throws UsageError */
async function readSchedule(given: string): Promise<Schedule> {
  const { items, pointer, source } = await readPlanContent(given, 'turns of two commands')
  if (items.length === 0) throw new UsageError(`${source}: The plan has no turn.`)
  let requests = 0
  const turns = items.map((item, index): Turn => {
    const refuse = (message: string) => new UsageError(`${source}#${pointer}/${index}: ${message}`)
    const turn = isObject(item) ? item : {}
    const strange = Object.keys(turn).find((name) => !['command', 'thread', 'requests'].includes(name))
    if (!isObject(item) || strange !== undefined || (turn['command'] !== 1 && turn['command'] !== 2)) {
      throw refuse('must be a turn such as {"command": 1, "requests": 2}; the command is 1 or 2')
    }
    const isLast = index === items.length - 1
    for (const name of ['thread', 'requests']) {
      const value = turn[name]
      if (value === undefined ? name === 'requests' && !isLast : !isCount(value)) {
        throw refuse(`${name} must be a whole number from 1; only the last turn needs no requests`)
      }
    }
    requests += Number(turn['requests'] ?? 1)
    if (requests > LONGEST_PLAN) throw refuse(`a plan has at most ${LONGEST_PLAN} requests`)
    return turn as unknown as Turn
  })
  return scheduleOf(turns)
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
}
