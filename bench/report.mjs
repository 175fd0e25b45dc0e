// The results in tables on the terminal.
import { EXPRESS, HTTP } from './candidates.mjs'
import { countFindings } from './statistics.mjs'
import { figure, printTable } from './table.mjs'

/** Part of the results → its rows. */
const ROWS = {
  throughput: ({ rows }) => rows.map((row) => throughputRow(row, rows)),
  firstReads: (reads) =>
    reads.map(({ records, change, cpuMilliseconds, milliseconds }) => ({
      'GET /dmarc, first read after': change,
      records: figure(records),
      'CPU ms': figure(cpuMilliseconds),
      ms: figure(milliseconds),
    })),
  starts: (starts) =>
    starts.map(({ candidate, milliseconds, cpuMilliseconds, mebibytes }) => ({
      'cold start': candidate,
      'first answer ms': figure(milliseconds),
      'CPU ms': figure(cpuMilliseconds),
      'resident MiB': figure(mebibytes),
    })),
  library: ({ first, later }) => [
    { 'startUnderstudy()': 'the first in a process', ms: figure(first) },
    { 'startUnderstudy()': 'those after it', ms: figure(later) },
  ],
  memory: ({ before, after, requests }) =>
    [
      { state: before, name: 'journal full' },
      { state: after, name: `after ${figure(requests)} requests` },
    ].map(({ state, name }) => ({
      memory: name,
      'live MiB': figure(state.liveBytes / 2 ** 20),
      'resident MiB': figure(state.residentMebibytes),
    })),
  loaded: (rows) =>
    rows.map(({ candidate, before, after }) => ({
      'resident MiB': candidate,
      'at the start': figure(before),
      'after a load': figure(after),
    })),
  accounts: (rows) => rows.map(({ fixture, bytes }) => ({ 'an account more': fixture, 'live bytes': figure(bytes) })),
  growth: (rows) =>
    rows.map(({ write, size, cpuMicroseconds, p99, toFirst }) => ({
      write,
      'account or accounts': size,
      'CPU µs': figure(cpuMicroseconds),
      'p99 ms': figure(p99),
      '÷ smallest': figure(toFirst),
    })),
  storm: ({ calm, storm }) =>
    Object.entries({ reads: calm, writes: storm }).map(([neighbour, { p99, perSecond }]) => ({
      'GET group while a neighbour': neighbour,
      'p99 ms': figure(p99),
      'req/s': figure(perSecond),
    })),
  data: (rows) =>
    rows.map(({ candidate, perSecond, perCpuSecond, p99, busy }) => ({
      'PATCH group, on disk': candidate,
      'req/s': figure(perSecond),
      'req/CPU s': figure(perCpuSecond),
      '÷ last': figure(perSecond / rows.at(-1).perSecond),
      'p99 ms': figure(p99),
      busy: percent(busy),
    })),
  replicas: (rows) =>
    rows.map(({ request, candidate, perSecond, perCpuSecond, p99, redisMicroseconds }) => ({
      request,
      candidate,
      'req/s': figure(perSecond),
      'req/CPU s': figure(perCpuSecond),
      'p99 ms': figure(p99),
      'CPU µs of Redis': candidate.endsWith('--store') ? figure(redisMicroseconds) : '',
    })),
  storeMemory: ({ accounts, bytesOfExchange }) => [
    ...accounts.map(({ domains, bytes }) => ({
      'in Redis': `an account of ${domains} domains`,
      kB: figure(bytes / 1000),
    })),
    { 'in Redis': 'an exchange in the journal', kB: figure(bytesOfExchange / 1000) },
  ],
  doors: ({ rows }) =>
    rows.map(({ name, size, milliseconds, perCpuSecond }) => ({
      way: name,
      MiB: size === undefined ? '' : figure(size / 2 ** 20),
      'first answer ms': figure(milliseconds),
      'req/CPU s': figure(perCpuSecond),
    })),
  contract: ({ ready, costs, planted, changes }) => [
    ...ready.map(({ contract, cpuMilliseconds }) => ({
      middleware: `contract(), ${contract}`,
      what: 'CPU ms until it is ready',
      figure: figure(cpuMilliseconds),
    })),
    ...costs.map(({ request, candidate, perCpuSecond }) => ({
      middleware: candidate,
      what: `${request}, req/CPU s`,
      figure: figure(perCpuSecond),
    })),
    ...changes.map(({ candidate, lawful, changed }) => ({
      middleware: candidate,
      what: `changed of ${lawful} lawful responses`,
      figure: `${changed}`,
    })),
    ...foundOf(planted),
  ],
  judging: (rows) =>
    rows.map(({ command, exchanges, start, seconds, perThousand }) => ({
      command,
      exchanges: exchanges === undefined ? '' : figure(exchanges),
      'CPU s': figure(seconds),
      'of the first': start === undefined ? '' : figure(start),
      'CPU ms for 1,000': perThousand === undefined ? '' : figure(perThousand),
    })),
  suites: (suites) =>
    suites.map(({ suite, milliseconds, cpuMilliseconds }) => ({
      'a test with': suite,
      ms: figure(milliseconds),
      'CPU ms': figure(cpuMilliseconds),
      'tests/s': figure(1000 / milliseconds),
    })),
  run: ({ alone, within }) =>
    Object.entries({ 'by itself': alone, 'by run': within }).map(([how, { milliseconds, cpuMilliseconds }]) => ({
      'a command that does nothing': how,
      ms: figure(milliseconds),
      'CPU ms': figure(cpuMilliseconds),
    })),
  trials: ({ client, rows }) =>
    [{ command: 'the client by itself', ...client }, ...rows].map((row) => ({
      'trials by': row.command,
      trials: row.runs === undefined ? '' : figure(row.runs),
      'per minute': figure(60_000 / row.milliseconds),
      'CPU ms': figure(row.cpuMilliseconds),
      '÷ client': figure(row.cpuMilliseconds / client.cpuMilliseconds),
    })),
  kept: (rows) =>
    rows.map(({ accounts, milliseconds, cpuMilliseconds, mebibytes }) => ({
      'accounts in the folder': figure(accounts),
      'first answer ms': figure(milliseconds),
      'CPU ms': figure(cpuMilliseconds),
      'resident MiB': figure(mebibytes),
    })),
  large: (rows) =>
    rows.map(({ question, milliseconds, cpuMilliseconds, longestWait }) => ({
      'asked about a large account': question,
      ms: figure(milliseconds),
      'CPU ms': figure(cpuMilliseconds),
      'another waits ms': figure(longestWait),
    })),
  dashboard: ({ notMeasured, ...figures }) =>
    notMeasured === undefined
      ? [
          { dashboard: 'page, gzipped, kB', '': figure(figures.gzippedBytes / 1000) },
          { dashboard: 'first paint, ms', '': figure(figures.firstPaint) },
          { dashboard: 'overview shown, ms', '': figure(figures.overview) },
          { dashboard: 'overview of 10,000 domains shown, ms', '': figure(figures.largeOverview) },
          { dashboard: '10,000 domains shown, ms', '': figure(figures.table) },
          { dashboard: 'longest frame while they scroll, ms', '': figure(figures.longestFrame) },
          { dashboard: 'frames over 50 ms', '': percent(figures.longFrames) },
          { dashboard: 'from a key in the search to the rows, ms', '': figure(figures.keystroke) },
        ]
      : [{ dashboard: 'not measured', '': notMeasured }],
}

/** How many of the planted violations each middleware finds. */
function foundOf(planted) {
  return countFindings(planted).flatMap(({ part, all, found }) =>
    Object.entries(found).map(([middleware, { right }]) => ({
      middleware,
      what: `found of ${all} unlawful ${part}s`,
      figure: `${right}`,
    })),
  )
}

export function printResult(part, result) {
  printTable(ROWS[part](result))
  for (const { name, why } of result.skipped ?? []) console.log(`Left out: ${name}: ${why}.\n`)
  for (const name of result.absent ?? []) console.log(`Left out: ${name}, because something for it is missing.\n`)
}

/** Says of each bar whether it is met. */
export function printBars(bars, { quick }) {
  if (bars.length === 0) return
  console.log(quick ? 'What a busy machine cannot miss:' : 'The bars:')
  printTable(
    bars.map(({ work, measured, bar = '', met }) => ({ work, measured: figure(measured), bar, '': word(met) })),
  )
  const missed = bars.filter(({ met }) => met === false)
  for (const { work, measured, bar } of missed) console.log(`Missed: ${work}: ${figure(measured)}, to be ${bar}`)
}

function word(met) {
  if (met === undefined) return ''
  return met ? 'met' : 'MISSED'
}

function throughputRow({ request, candidate, perSecond, perCpuSecond, p99, busy, loadShare }, rows) {
  const rate = (name) => rows.find((row) => row.request === request && row.candidate === name).perCpuSecond
  return {
    request,
    candidate,
    'req/s': figure(perSecond),
    'req/CPU s': figure(perCpuSecond),
    '÷ Express': figure(perCpuSecond / rate(EXPRESS)),
    '÷ node:http': figure(perCpuSecond / rate(HTTP)),
    'p99 ms': figure(p99),
    busy: percent(busy),
    load: percent(loadShare),
  }
}

function percent(share) {
  return `${Math.round(share * 100)} %`
}
