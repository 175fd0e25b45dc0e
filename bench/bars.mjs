// What the figures are to be, and whether they are.
import { EXPRESS, HTTP, OURS, OURS_WITHOUT_JOURNAL } from './candidates.mjs'

/**
 * `measured` takes the figure out of the results. `atLeast` or `atMost` is the bar, if there is one; `certain` is one in the same
 * direction that a busy machine cannot miss, which is what a quick run is held to: of a ratio about half of what it is. Absolute
 * figures are several times as high while others use the processor, so theirs are further away.
 */
const BARS = [
  {
    work: 'GET group ÷ node:http',
    measured: ({ throughput }, rate) => ratio(throughput, rate, 'GET /domaingroups', HTTP),
    atLeast: 0.88,
    certain: 0.45,
  },
  {
    work: 'GET group ÷ Express',
    measured: ({ throughput }, rate) => ratio(throughput, rate, 'GET /domaingroups', EXPRESS),
    atLeast: 4,
  },
  {
    work: 'POST group ÷ node:http',
    measured: ({ throughput }, rate) => ratio(throughput, rate, 'POST /domaingroups', HTTP),
    atLeast: 0.65,
    certain: 0.35,
  },
  {
    work: 'GET /dmarc unchanged ÷ node:http',
    measured: ({ throughput }, rate) => ratio(throughput, rate, 'GET /dmarc', HTTP),
    atLeast: 0.9,
    certain: 0.45,
  },
  {
    work: 'GET group ÷ the same without a journal',
    measured: ({ throughput }, rate) => ratio(throughput, rate, 'GET /domaingroups', OURS_WITHOUT_JOURNAL),
  },
  {
    work: 'GET group ÷ the fastest peer',
    measured: ({ throughput }) => ratioToPeers(throughput, 'GET /domaingroups'),
    atLeast: 1,
  },
  {
    work: 'POST group ÷ the fastest peer',
    measured: ({ throughput }) => ratioToPeers(throughput, 'POST /domaingroups'),
    atLeast: 1,
  },
  {
    work: 'GET /dmarc ÷ the fastest peer',
    measured: ({ throughput }) => ratioToPeers(throughput, 'GET /dmarc'),
    atLeast: 1,
  },
  ...[
    { records: 1000, atMost: 8, certain: 80 },
    { records: 10_000, atMost: 80, certain: 500 },
  ].flatMap(({ records, ...bar }) =>
    ['a domain was added', 'a day has passed'].map((change) => ({
      work: `GET /dmarc, ${records.toLocaleString('en-US')} records, after ${change}, CPU ms`,
      measured: ({ firstReads }) =>
        firstReads?.find((read) => read.records === records && read.change === change).cpuMilliseconds,
      ...bar,
    })),
  ),
  // Node 26 starts Express in a fraction of the time of Node 20, beside its own start.
  ...[
    { version: 'Node 20', applies: (node) => node.startsWith('v20.'), atMost: 1.3 },
    { version: 'newer Node', applies: (node) => !node.startsWith('v20.'), atMost: 1.15 },
  ].map(({ version, applies, atMost }) => ({
    work: `cold start ÷ Express, ${version}`,
    measured: ({ starts, machine }) => (applies(machine.node) ? ofOursToExpress(starts, 'milliseconds') : undefined),
    atMost,
    certain: 4,
  })),
  {
    work: 'first startUnderstudy() of a process, ms',
    measured: ({ library }) => library?.first,
    atMost: 15,
    certain: 1000,
  },
  { work: 'later startUnderstudy(), ms', measured: ({ library }) => library?.later, atMost: 0.5, certain: 150 },
  {
    work: 'memory after the start ÷ Express',
    measured: ({ starts }) => ofOursToExpress(starts, 'mebibytes'),
    atMost: 1.15,
    certain: 1.7,
  },
  {
    work: 'memory after a load ÷ Express',
    measured: ({ loaded }) => ofOursToExpress(loaded, 'after'),
    atMost: 1.3,
    certain: 3,
  },
  // Live bytes do not depend on how busy the machine is.
  ...[
    { fixture: 'empty', atMost: 3000, certain: 6000 },
    { fixture: 'demo', atMost: 13_000, certain: 20_000 },
  ].map(({ fixture, ...bar }) => ({
    work: `live bytes of an account more, fixture ${fixture}`,
    measured: ({ accounts }) => accounts?.find((row) => row.fixture === fixture).bytes,
    ...bar,
  })),
  // What is made for good is made before the first figure is taken; 2 MiB is less than 3 bytes for each request.
  {
    work: 'live memory grown by many requests, MiB',
    measured: ({ memory }) => memory?.grownMebibytes,
    atMost: 2,
    certain: 2,
  },
  {
    work: 'a write among many accounts ÷ one account',
    measured: ({ growth }) => growth?.find(({ size }) => size.endsWith(' accounts')).toFirst,
    atMost: 1.2,
    certain: 5,
  },
  {
    work: 'the dearest write, 10,000 domains ÷ 100',
    measured: ({ growth }) =>
      highest(growth?.filter(({ size }) => size === '10,000 domains').map(({ toFirst }) => toFirst)),
    atMost: 3,
    // Of a hundred times as many domains.
    certain: 12,
  },
  {
    work: 'p99 of reads while a neighbour writes ÷ while it reads',
    measured: ({ storm }) => storm?.ratio,
    atMost: 2,
    certain: 20,
  },
  {
    work: '--data ÷ lowdb, one file',
    measured: ({ data }) => data && data[0].perSecond / data[1].perSecond,
    atLeast: 3,
    certain: 0.8,
  },
  ...['check', 'calibrate'].flatMap((command) => [
    {
      work: `${command} of 1,000 exchanges, CPU ms`,
      measured: ({ judging }) => ofCommand(judging, command)?.perThousand,
      atMost: 500,
      certain: 20_000,
    },
    {
      work: `${command} of one exchange, CPU s`,
      measured: ({ judging }) => ofCommand(judging, command)?.start,
      atMost: 0.5,
      certain: 8,
    },
  ]),
  {
    work: 'verify of our own server, CPU s',
    measured: ({ judging }) => ofCommand(judging, 'verify')?.seconds,
    atMost: 4,
    certain: 25,
  },
  {
    work: 'a test with an account of its own ÷ with a bare server of Express, CPU',
    measured: ({ suites }) => suites && suites[0].cpuMilliseconds / suites[1].cpuMilliseconds,
    atMost: 1.4,
    certain: 10,
  },
  {
    work: 'a command by run ÷ by itself, CPU',
    measured: ({ run }) => run && run.within.cpuMilliseconds / run.alone.cpuMilliseconds,
    atMost: 4,
    certain: 40,
  },
  // `vary` compares the contract under each alternative before its trials.
  ...[
    { command: 'vary', atMost: 1.8 },
    { command: 'explore', atMost: 1.4 },
  ].map(({ command, atMost }) => ({
    work: `a trial by ${command} ÷ its client by itself, CPU`,
    measured: ({ trials }) => ofTrials(trials, command),
    atMost,
    certain: 20,
  })),
  {
    work: 'a start with many kept accounts ÷ with one, CPU',
    measured: ({ kept }) => kept && kept[1].cpuMilliseconds / kept[0].cpuMilliseconds,
    atMost: 5,
    certain: 20,
  },
  {
    work: 'memory of many kept accounts, MiB for each thousand',
    measured: ({ kept }) =>
      kept && (1000 * (kept[1].mebibytes - kept[0].mebibytes)) / (kept[1].accounts - kept[0].accounts),
    atMost: 10,
    certain: 100,
  },
  ...[
    { about: 'explain', atMost: 10, certain: 2000 },
    { about: 'overview', atMost: 500, certain: 20_000 },
  ].flatMap(({ about, ...bar }) => [
    {
      work: `${about} of a large account, CPU ms`,
      measured: ({ large }) => ofQuestion(large, about)?.cpuMilliseconds,
      ...bar,
    },
    {
      work: `another waits for ${about} of a large account, ms`,
      measured: ({ large }) => ofQuestion(large, about)?.longestWait,
      atMost: 50,
      certain: 20_000,
    },
  ]),
  {
    work: 'the page of the dashboard, gzipped, kB',
    measured: ({ dashboard }) => dashboard?.gzippedBytes && dashboard.gzippedBytes / 1000,
    atMost: 150,
    certain: 150,
  },
  {
    work: 'first paint of the dashboard, ms',
    measured: ({ dashboard }) => dashboard?.firstPaint,
    atMost: 200,
    certain: 5000,
  },
  ...[
    { name: 'largeOverview', work: 'overview of 10,000 domains in the dashboard, ms', atMost: 1000 },
    { name: 'table', work: '10,000 domains in the dashboard, ms', atMost: 1000 },
  ].map(({ name, ...bar }) => ({ measured: ({ dashboard }) => dashboard?.[name], certain: 25_000, ...bar })),
]

/** Each bar with the figure and whether it is met; those that nothing was measured for are not there. */
export function judge(results, { quick }) {
  return BARS.flatMap(({ work, measured, certain, ...bar }) => {
    const value = measured(results, quick ? 'bestPerCpuSecond' : 'perCpuSecond')
    const limit = quick ? certain : (bar.atLeast ?? bar.atMost)
    if (value === undefined || (quick && limit === undefined)) return []
    if (limit === undefined) return [{ work, measured: value }]
    const atLeast = bar.atLeast !== undefined
    // What could not be measured is NaN, and no bar is met by that.
    const met = atLeast ? value >= limit : value <= limit
    return [{ work, measured: value, bar: `${atLeast ? '≥' : '≤'} ${limit}`, met }]
  })
}

/** `rate`: the median of the rounds, or the best of them. */
function ratio(throughput, rate, request, to) {
  const of = (name) => throughput.rows.find((row) => row.request.startsWith(request) && row.candidate === name)[rate]
  return throughput && of(OURS) / of(to)
}

function ratioToPeers(throughput, request) {
  const peers = throughput?.rows.filter((row) => row.isPeer && row.request.startsWith(request)) ?? []
  if (peers.length === 0) return undefined
  const ours = throughput.rows.find((row) => row.candidate === OURS && row.request.startsWith(request))
  return ours.perCpuSecond / highest(peers.map((row) => row.perCpuSecond))
}

function ofOursToExpress(rows, figure) {
  const of = (name) => rows.find(({ candidate }) => candidate === name)[figure]
  return rows && of(OURS) / of(EXPRESS)
}

function ofCommand(judging, command) {
  return judging?.find((row) => row.command === command)
}

/** What a trial costs beside the client that it runs. */
function ofTrials(trials, command) {
  const cost = trials?.rows.find((row) => row.command === command)?.cpuMilliseconds
  return cost && cost / trials.client.cpuMilliseconds
}

function ofQuestion(large, about) {
  return large?.find(({ question }) => question.startsWith(about))
}

function highest(values) {
  return values && Math.max(...values)
}
