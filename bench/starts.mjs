// How long it takes until the service answers: as a process of its own, and in a process that has imported it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EXPRESS, HTTP, OURS, serveCommand, serverCommand, serviceRequest } from './contestants.mjs'
import {
  cpuSeconds,
  firstAnswer,
  freePort,
  printed,
  residentMebibytes,
  startProgram,
  stopProgram,
} from './processes.mjs'
import { median, takeTurns } from './statistics.mjs'

/** From spawn to the first answer, with processor time and resident memory then. */
export async function measureStarts({ rounds }, folder) {
  // Smaller than any answer of ours, so that reading them at the start costs the others nothing.
  const answersPath = join(folder, 'small-answers.json')
  const group = JSON.stringify({ success: true, data: { group: { id: '4fTq81Zb', name: 'Group', domains: [] } } })
  const dmarc = JSON.stringify({ success: true, data: [] })
  writeFileSync(answersPath, JSON.stringify({ group, created: group, dmarc }))
  const commands = {
    [OURS]: (port) => serveCommand('demo', port),
    [EXPRESS]: (port) => serverCommand('express', answersPath, port),
    [HTTP]: (port) => serverCommand('http', answersPath, port),
  }
  const measured = await takeTurns(Object.values(commands), rounds, measureStart)
  return Object.keys(commands).map((server, index) => ({ server, ...measured[index] }))
}

async function measureStart(commandAt) {
  const request = serviceRequest('GET', '/domaingroups')
  const port = await freePort()
  const began = performance.now()
  const child = startProgram(commandAt(port))
  child.stdout.resume()
  await firstAnswer(port, request, child)
  const milliseconds = performance.now() - began
  const figures = {
    milliseconds,
    cpuMilliseconds: cpuSeconds(child.pid) * 1000,
    mebibytes: residentMebibytes(child.pid),
  }
  await stopProgram(child)
  return figures
}

/** `startUnderstudy()` in milliseconds: the first one of a process, its first answer, and a later start. */
export async function measureLibrary({ rounds }) {
  const measured = []
  for (let round = 0; round < rounds; round++) {
    const child = startProgram(serverCommand('library'))
    measured.push(JSON.parse(await printed(child, /^(\{.*\})$/m)))
    await stopProgram(child)
  }
  const names = ['first start', 'its first answer', 'a later start']
  return names.map((name) => ({ start: name, milliseconds: median(measured.map((each) => each[name])) }))
}
