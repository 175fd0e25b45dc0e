// What the commands cost that judge a recording, and those that try a client again and again.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM, serverCommand } from './contestants.mjs'
import { spendOn } from './processes.mjs'
import { recordSessions } from './recording.mjs'
import { median } from './statistics.mjs'

/**
 * Exchanges per second of processor time that `check` and `calibrate` judge, after the start: the difference between a long
 * and a short recording.
 */
export async function measureJudging({ rounds, exchanges }, folder) {
  const [short, long] = await recordSessions(folder, [100, exchanges])
  const rows = []
  for (const command of ['check', 'calibrate']) {
    const [starts, all] = [[], []]
    for (let round = 0; round < rounds; round++) {
      starts.push((await spendOn([PROGRAM, command, short], { folder })).cpu)
      all.push((await spendOn([PROGRAM, command, long], { folder })).cpu)
    }
    const [start, whole] = [median(starts), median(all)]
    rows.push({ command, exchanges, seconds: whole, start, perCpuSecond: (exchanges - 100) / (whole - start) })
  }
  return rows
}

/** Trials per minute of `vary` and `explore` with a small client, one at a time; and what `run` adds to a command. */
export async function measureTrials({ runs }, folder) {
  const rows = []
  const client = [process.execPath, ...serverCommand('client')]
  for (const [command, options] of [
    ['vary', []],
    ['explore', ['--runs', `${runs}`]],
  ]) {
    const report = join(folder, `${command}.json`)
    const args = [PROGRAM, command, '--jobs', '1', ...options, '--report', `json=${report}`, '--', ...client]
    const { wall } = await spendOn(args, { folder })
    const { runs: trials } = JSON.parse(readFileSync(report, 'utf8'))
    rows.push({ command, trials, seconds: wall, perMinute: (60 * trials) / wall })
  }
  return rows
}
