// What it costs to read GET /dmarc for the first time after something changed, so that no kept bytes can answer.
import { join } from 'node:path'
import { writeFixture } from './accounts.mjs'
import { controlRequest, OURS, serveCommand, serviceRequest, startCandidate } from './candidates.mjs'
import { ask } from './load.mjs'
import { ALL_CORES, fineCpuSeconds, portOf, startProgram, stopProgram } from './processes.mjs'
import { summarize } from './statistics.mjs'

const DMARC = serviceRequest('GET', '/dmarc')
/** Reads that are not counted: a new process is slower, whatever it does. */
const WARM_UP = 5

/** Rows of processor time and wall time, for accounts of each size and each kind of change. */
export async function measureFirstReads(plan, folder) {
  const rows = []
  for (const records of [1000, 10_000]) {
    const fixture = writeFixture(join(folder, `records-${records}.json`), { domains: records })
    rows.push(await readAfter('a domain was added', records, fixture, plan, addDomain))
    rows.push(await readAfter('a day has passed', records, fixture, plan, passDay))
    rows.push(await readInNewProcesses(records, fixture, plan))
  }
  return rows
}

async function readAfter(change, records, fixture, plan, cause) {
  const { child, port } = await startCandidate(OURS, serveCommand(fixture))
  const reads = []
  for (let read = 0; read < WARM_UP + plan.reads; read++) {
    const undo = await cause(port)
    const cost = await measureRead(child, port)
    if (read >= WARM_UP) reads.push(cost)
    await undo?.()
  }
  await stopProgram(child)
  return { change, records, ...summarize(reads) }
}

async function addDomain(port) {
  const body = { domains: ['one-more.example'] }
  await ask(port, serviceRequest('POST', '/domains', body))
  return () => ask(port, serviceRequest('DELETE', '/domains', body))
}

async function passDay(port) {
  await ask(port, controlRequest('PATCH', '/accounts/default/clock', { advance: 'P1D' }))
}

/** In new processes that have answered one other request, because what else a first request costs is not asked here. */
async function readInNewProcesses(records, fixture, plan) {
  const reads = []
  for (let start = 0; start < plan.starts; start++) {
    // On all cores, as a person runs it: a new process compiles and collects beside its work.
    const child = startProgram(serveCommand(fixture), { cores: ALL_CORES })
    const port = await portOf(child)
    await ask(port, serviceRequest('GET', '/domaingroups'))
    reads.push(await measureRead(child, port))
    await stopProgram(child)
  }
  return { change: 'the process began', records, ...summarize(reads) }
}

/** Where nobody tells processor time, it is wall time. */
async function measureRead({ pid }, port) {
  const spent = () => fineCpuSeconds(pid) ?? performance.now() / 1000
  const [began, cpuBefore] = [performance.now(), spent()]
  await ask(port, DMARC)
  const milliseconds = performance.now() - began
  return { cpuMilliseconds: (spent() - cpuBefore) * 1000, milliseconds }
}
