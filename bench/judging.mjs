// What the commands that judge a service cost: processor time of their processes.
import { join } from 'node:path'
import { API_KEY } from './accounts.mjs'
import { PROGRAM, serveCommand } from './candidates.mjs'
import { portOf, startProgram, stopProgram } from './processes.mjs'
import { recordSessions } from './recording.mjs'
import { spendOn } from './spending.mjs'
import { median } from './statistics.mjs'

/** `check` and `calibrate` of recordings with one exchange and with many, and `verify` of the service itself. */
export async function measureJudging(plan, folder) {
  const recordings = [1, plan.exchanges].map((count) => ({ count, path: join(folder, `${count}.har`) }))
  const recorded = startProgram([PROGRAM, 'serve', '--port', '0', '--log-level', 'silent', '--fixture', 'empty'])
  await recordSessions(await portOf(recorded), recordings)
  await stopProgram(recorded)
  const times = { check: [], calibrate: [], verify: [] }
  for (let round = 0; round < plan.judgements; round++) {
    for (const command of ['check', 'calibrate']) {
      const seconds = []
      for (const { path } of recordings) seconds.push(await cpuSecondsOf([command, path], folder))
      times[command].push({ start: seconds[0], all: seconds[1] })
    }
    times.verify.push({ all: await cpuOfVerify(folder) })
  }
  return Object.entries(times).map(([command, rounds]) => {
    const [start, all] = ['start', 'all'].map((name) => median(rounds.map((round) => round[name])))
    if (command === 'verify') return { command, seconds: all }
    return {
      command,
      seconds: all,
      start,
      exchanges: plan.exchanges,
      perThousand: (1e6 * (all - start)) / (plan.exchanges - 1),
    }
  })
}

async function cpuOfVerify(folder) {
  const service = startProgram(serveCommand('demo'))
  const baseUrl = `http://127.0.0.1:${await portOf(service)}/api/v1`
  try {
    return await cpuSecondsOf(['verify', '--base-url', baseUrl, '--api-key', API_KEY], folder)
  } finally {
    await stopProgram(service)
  }
}

async function cpuSecondsOf(args, folder) {
  return (await spendOn([PROGRAM, ...args], { folder })).cpuMilliseconds / 1000
}
