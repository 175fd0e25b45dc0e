// How long it takes until the service answers: as a process of its own, and in a process that has imported it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EXPRESS, HTTP, OURS, serveCommand, serverCommand, serviceRequest } from './candidates.mjs'
import {
  fineCpuSeconds,
  firstAnswer,
  freePort,
  printed,
  residentMebibytes,
  startProgram,
  stopProgram,
} from './processes.mjs'
import { median, takeTurns } from './statistics.mjs'

/** From spawn to the first answer, with the memory after it. */
export async function measureStarts(plan, folder) {
  // Smaller than any answer of ours, so that reading them at the start costs the others nothing.
  const answersPath = join(folder, 'small-answers.json')
  const small = JSON.stringify({ success: true, data: { group: { id: '4fTq81Zb', name: 'Group', domains: [] } } })
  const dmarc = JSON.stringify({ success: true, data: [] })
  writeFileSync(answersPath, JSON.stringify({ group: small, created: small, dmarc }))
  const candidates = [
    { name: OURS, commandAt: (port) => serveCommand('demo', { port }) },
    { name: EXPRESS, commandAt: (port) => serverCommand('express', answersPath, port) },
    { name: HTTP, commandAt: (port) => serverCommand('http', answersPath, port) },
  ]
  const results = await takeTurns(candidates, plan.starts, measureStart)
  return results.map((result, index) => ({ candidate: candidates[index].name, ...result }))
}

/** Figures of one start. `stderr` is that of `startProgram`. */
export async function measureStart({ commandAt, stderr }) {
  const request = serviceRequest('GET', '/domaingroups')
  const port = await freePort()
  const began = performance.now()
  const child = startProgram(commandAt(port), { stderr })
  child.stdout.resume()
  await firstAnswer(port, request, child)
  const milliseconds = performance.now() - began
  const cpuMilliseconds = (fineCpuSeconds(child.pid) ?? Number.NaN) * 1000
  const mebibytes = residentMebibytes(child.pid)
  await stopProgram(child)
  return { milliseconds, cpuMilliseconds, mebibytes }
}

/** `startUnderstudy()`: the first one in a process, which reads the contract, and those that follow it. */
export async function measureLibrary(plan) {
  const [first, later] = [[], []]
  for (let start = 0; start < plan.starts; start++) {
    const child = startProgram(serverCommand('library', plan.libraryStarts))
    const milliseconds = JSON.parse(await printed(child, /^(\[.*\])$/m))
    first.push(milliseconds[0])
    later.push(median(milliseconds.slice(1)))
    await stopProgram(child)
  }
  return { first: median(first), later: median(later) }
}
