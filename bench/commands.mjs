// What the commands cost that run a command of the user, beside that command by itself.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { API_KEY } from './accounts.mjs'
import { PROGRAM, serveCommand, serverCommand, startCandidate } from './candidates.mjs'
import { stopProgram } from './processes.mjs'
import { spendOn } from './spending.mjs'
import { summarize, takeTurns } from './statistics.mjs'

const NOTHING = ['-e', '']
const CLIENT = serverCommand('client')

/** `run`: a command that does nothing, and the same command by itself. Their difference is what `run` costs. */
export async function measureRun(plan, folder) {
  const candidates = [NOTHING, [PROGRAM, 'run', '--', process.execPath, ...NOTHING]]
  const [alone, within] = await takeTurns(candidates, plan.runs, (args) => spendOn(args, { folder }))
  return { alone, within }
}

/** `vary` and `explore`: trials of a small client, one after the other, and that client by itself. */
export async function measureTrials(plan, folder) {
  const service = await startCandidate('trials', serveCommand('demo'))
  const environment = {
    UNDERSTUDY_BASE_URL: `http://127.0.0.1:${service.port}/api/v1`,
    UNDERSTUDY_API_KEY: API_KEY,
  }
  const alone = []
  for (let run = 0; run < plan.runs; run++) alone.push(await spendOn(CLIENT, { folder, environment }))
  await stopProgram(service.child)
  const client = summarize(alone)
  const rows = []
  const skipped = []
  for (const [command, options] of Object.entries(plan.trials)) {
    if (options === undefined) {
      skipped.push({ name: command, why: 'its trials take longer than a quick run' })
      continue
    }
    const report = join(folder, `${command}.json`)
    const args = [PROGRAM, command, '--jobs', '1', ...options, '--report', `json=${report}`]
    const spent = await spendOn([...args, '--', process.execPath, ...CLIENT], { folder })
    const { runs } = JSON.parse(readFileSync(report, 'utf8'))
    const [milliseconds, cpuMilliseconds] = [spent.milliseconds, spent.cpuMilliseconds].map((all) => all / runs)
    rows.push({ command, runs, milliseconds, cpuMilliseconds })
  }
  return { client, rows, skipped }
}
