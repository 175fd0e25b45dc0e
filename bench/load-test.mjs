// What a client notices of crowds of others and of expensive work, and whether they leave anything behind:
// `npm run bench:load`.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { writeFixture } from './accounts.mjs'
import { BURDENS, prepareBurden } from './burdens.mjs'
import { OURS, PROGRAM, serveCommand, serviceRequest, startCandidate } from './candidates.mjs'
import { CROWDS } from './crowds.mjs'
import { always, drive } from './load.mjs'
import { pinThisProcess, printed, residentMebibytes, startProgram, stopAll, stopProgram } from './processes.mjs'
import { figure, printTable } from './table.mjs'

const CROWD = fileURLToPath(new URL('crowds.mjs', import.meta.url))
const BURDEN = fileURLToPath(new URL('burdens.mjs', import.meta.url))
const TURNS = fileURLToPath(new URL('servers/turns.mjs', import.meta.url))
const LOAD_CORE = '1'
const WARM_UP = 1
/** Times the p99 of an idle server that a client may have to wait beside a crowd that it should not notice. */
const NOTICEABLE = 5
/** MiB of resident memory that a server may have in all. */
const MEMORY = 512
/** Milliseconds of processor time that a turn of the event loop may take, whatever others do. */
const LONGEST_TURN = 50

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '40' },
    // Another build of the program, to compare with.
    program: { type: 'string', default: PROGRAM },
    part: { type: 'string', default: 'all' },
    // Only the burdens whose name has this in it.
    burden: { type: 'string', default: '' },
  },
})
if (!/^\d{1,5}$/.test(values.seconds)) {
  console.error(`--seconds ${values.seconds}: must be a whole number.`)
  process.exit(2)
}
const folder = mkdtempSync(join(tmpdir(), 'understudy-load-'))
try {
  pinThisProcess()
  preferThisProcess()
  const fixture = writeFixture(join(folder, 'account.json'), { domains: 1000, groups: 20 })
  const share = Number(values.seconds) / (Object.keys(CROWDS).length + 1)
  if (values.part !== 'burdens') await measureCrowds(fixture, share)
  if (values.part !== 'crowds') await measureBurdens(fixture, share)
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}

async function measureCrowds(fixture, seconds) {
  const { child, port } = await startCandidate(OURS, serveCommand(fixture, { program: values.program }))
  await readAlone(port, WARM_UP)
  const open = countDescriptors(child.pid)
  const idle = await readAlone(port, seconds)
  const rows = [{ crowd: 'nobody', clients: 0, ...idle }]
  for (const [crowd, { clients, idle: harmless }] of Object.entries(CROWDS)) {
    const others = startProgram([CROWD, crowd, String(port)], { cores: LOAD_CORE })
    await printed(others, /(there)/)
    // What is done for the first time takes longer.
    await readAlone(port, WARM_UP)
    rows.push({ crowd, clients, harmless, ...(await readAlone(port, seconds)), memory: residentMebibytes(child.pid) })
    await stopProgram(others)
  }
  const left = await descriptorsLeft(child.pid, open)
  printTable(
    rows.map(({ crowd, clients, p99, perSecond, memory }) => ({
      'while others': crowd,
      clients: figure(clients),
      'p99 ms': figure(p99),
      '÷ idle': figure(p99 / idle.p99),
      'reads/s': figure(perSecond),
      'resident MiB': memory === undefined ? '–' : figure(memory),
    })),
  )
  console.log(`${left} descriptors of the server are open that were not before.`)
  const noticed = rows.filter(({ harmless, p99 }) => harmless && p99 > NOTICEABLE * idle.p99)
  for (const { crowd } of noticed) console.log(`A client notices too much of those who ${crowd}.`)
  const grown = rows.some(({ memory = 0 }) => memory > MEMORY)
  if (grown) console.log(`The server took more than ${MEMORY} MiB.`)
  if (noticed.length > 0 || left > 0 || grown || child.exitCode !== null) process.exitCode = 1
}

/** Each burden has a server of its own, because what it leaves behind would be a burden on the next. */
async function measureBurdens(fixture, seconds) {
  const rows = []
  for (const burden of Object.keys(BURDENS).filter((name) => name.includes(values.burden))) {
    rows.push(await measureBurden(burden, fixture, seconds))
  }
  printTable(
    rows.map(({ burden, p99, longest, turn, perSecond, actsPerSecond, memory }) => ({
      while: burden,
      'p99 ms': figure(p99),
      'longest ms': figure(longest),
      'longest turn ms': figure(turn),
      'reads/s': figure(perSecond),
      'acts/s': figure(actsPerSecond),
      'resident MiB': figure(memory),
    })),
  )
  const held = rows.filter(({ turn }) => turn > LONGEST_TURN)
  for (const { burden } of held) console.log(`A turn takes more than ${LONGEST_TURN} ms while ${burden}.`)
  if (held.length > 0) process.exitCode = 1
}

async function measureBurden(burden, fixture, seconds) {
  const options = BURDENS[burden].options?.(mkdtempSync(join(folder, 'data-'))) ?? []
  const command = serveCommand(fixture, { program: values.program, options, flags: ['--import', TURNS] })
  const { child, port } = await startCandidate(OURS, command)
  await prepareBurden(burden, port)
  await readAlone(port, WARM_UP)
  await longestTurn(child)
  const load = startProgram([BURDEN, burden, String(port)], { cores: LOAD_CORE })
  await printed(load, /(there)/)
  const { p99, longest, perSecond } = await readAlone(port, seconds)
  const turn = await longestTurn(child)
  const memory = residentMebibytes(child.pid)
  const done = printed(load, /done (\d+)/)
  load.kill('SIGTERM')
  const actsPerSecond = Number(await done) / seconds
  await stopProgram(child)
  return { burden, p99, longest, turn, perSecond, actsPerSecond, memory }
}

/** Milliseconds of processor time of the server's longest turn since it was last asked. */
async function longestTurn(child) {
  const answer = printed(child, /longest turn: ([\d.]+)/)
  child.kill('SIGUSR2')
  return Number(await answer)
}

/** One client, with one request at a time. */
async function readAlone(port, seconds) {
  const { answers, wall, p99, longest } = await drive(port, always(serviceRequest('GET', '/domaingroups'), 1), {
    seconds,
  })
  return { p99, longest, perSecond: answers / wall }
}

/** The crowds have the core that this process measures on; where it may, it goes first. */
function preferThisProcess() {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST)
  } catch {
    console.log('Without the right to go first, crowds that are busy make the figures worse than they are.')
  }
}

function countDescriptors(pid) {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** How many are open that were not before, once the server has had the time to notice that their clients are gone. */
async function descriptorsLeft(pid, before) {
  for (let second = 0; second < 15 && countDescriptors(pid) > before; second++) await setTimeout(1_000)
  return countDescriptors(pid) - before
}
