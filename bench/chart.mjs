// Draws results.json as chart.svg, and writes its figures into the documents.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { EXPRESS, HTTP, OURS, OURS_WITHOUT_JOURNAL } from './candidates.mjs'
import { writeBlocks } from './documents.mjs'
import { picture, text } from './svg.mjs'
import { figure } from './table.mjs'
import { describeBars, describeContract, describeDoors, describeReplicas, describeRun, table } from './tables.mjs'
import { describeWaits } from './waits.mjs'

const [RESULTS, CHART] = ['results.json', 'chart.svg'].map((path) => fileURLToPath(new URL(path, import.meta.url)))

/** Pixels. */
const [WIDTH, MARGIN, LABELS, VALUES, BAR, GAP, TITLE] = [760, 16, 150, 76, 16, 6, 34]

export function writeChart(results) {
  writeFileSync(CHART, drawChart(results))
  writeBlocks(blocksOf(results))
}

/** What documents say of the results: the document, the name of the comments around it, and the content. */
export function blocksOf(results) {
  return [
    { path: 'docs/speed.md', name: 'figures', content: describe(results) },
    { path: 'docs/speed.md', name: 'bars', content: describeBars(results) },
    { path: 'README.md', name: 'headline', content: summarise(results) },
    ...[
      { path: 'docs/speed.md', name: 'doors', part: 'doors', describePart: describeDoors },
      { path: 'docs/replicas.md', name: 'replicas', part: 'replicas', describePart: describeReplicas },
      { path: 'docs/express.md', name: 'contract', part: 'contract', describePart: describeContract },
    ].map(({ path, name, part, describePart }) => ({
      path,
      name,
      content: results[part] === undefined ? 'The last run has not measured this.' : describePart(results),
    })),
  ]
}

/** A panel for each request, a bar for each candidate, from the fastest to the slowest. */
export function drawChart({ throughput: { rows } }) {
  const panels = requestsOf(rows).map((request) =>
    rows
      .filter((row) => row.request === request && row.candidate !== OURS_WITHOUT_JOURNAL)
      .sort((one, other) => other.perCpuSecond - one.perCpuSecond),
  )
  const parts = []
  let y = MARGIN
  for (const panel of panels) {
    parts.push(text(MARGIN, y + 16, panel[0].request, 'title'))
    y += TITLE
    for (const row of panel) {
      parts.push(drawBar(row, panel[0].perCpuSecond, y))
      y += BAR + GAP
    }
    y += MARGIN
  }
  return picture({
    width: WIDTH,
    height: y,
    title: 'Requests per second of one core’s time',
    styles: ['.bar { fill: #8c959f } .ours { fill: #0969da }', '.bar { fill: #6e7681 } .ours { fill: #4493f8 }'],
    parts,
  })
}

function drawBar({ candidate, perCpuSecond }, longest, y) {
  const left = MARGIN + LABELS
  // The slowest are to be seen all the same.
  const width = Math.max(1, ((WIDTH - left - VALUES - MARGIN) * perCpuSecond) / longest).toFixed(1)
  const baseline = y + BAR - 3
  return [
    text(left - 8, baseline, candidate, 'end'),
    `<rect class="${candidate === OURS ? 'ours' : 'bar'}" x="${left}" y="${y}" width="${width}" height="${BAR}" rx="2"/>`,
    text(left + Number(width) + 8, baseline, `${figure(perCpuSecond)}/s`, 'value'),
  ].join('')
}

/** The most important figures in two sentences. */
function summarise({ commit, machine, throughput: { rows }, starts }) {
  const [read, , write] = requestsOf(rows)
  const rate = (request) => figure(rowOf(rows, request, OURS).perCpuSecond)
  const start = figure(starts.find(({ candidate }) => candidate === OURS).milliseconds)
  return `On one core (${machine.cpu}), commit ${commit} answered ${rate(read)} small reads or ${rate(write)} creations of groups per second, and its first request ${start} ms after its start.`
}

/** The figures in words. */
function describe(results) {
  const { throughput } = results
  return [
    describeRun(results),
    '',
    '![Requests per second of one core’s time, beside bare node:http, bare Express and other mock servers](../bench/chart.svg)',
    '',
    ...tableOf(throughput),
    '',
    ...[...statements(results), ...describeWaits(results)].map((statement) => `- ${statement}`),
    ...throughput.skipped.map(({ name, why }) => `- ${name} is not in all of it: ${why}.`),
  ].join('\n')
}

function tableOf({ rows }) {
  const lines = requestsOf(rows).map((request) => {
    const of = rows.filter((row) => row.request === request)
    const rate = (name) => of.find(({ candidate }) => candidate === name).perCpuSecond
    const peers = of.filter(({ isPeer }) => isPeer).sort((one, other) => other.perCpuSecond - one.perCpuSecond)
    const ours = rate(OURS)
    const peer = peers.length === 0 ? '–' : `${figure(ours / peers[0].perCpuSecond)} (${peers[0].candidate})`
    return [request, figure(ours), figure(ours / rate(EXPRESS)), figure(ours / rate(HTTP)), peer]
  })
  const heads = ['request', 'per core and second', '÷ Express', '÷ node:http', '÷ fastest other mock']
  return table(heads, lines)
}

function statements({ throughput, firstReads, starts, library, memory, growth, storm, data, dashboard }) {
  const [request] = requestsOf(throughput.rows)
  const rate = (name) => rowOf(throughput.rows, request, name).perCpuSecond
  const start = (name) => starts.find(({ candidate }) => candidate === name)
  const read = (change) => firstReads.filter((row) => row.change === change).map((row) => figure(row.cpuMilliseconds))
  const many = growth.find(({ size }) => size.endsWith(' accounts'))
  const large = growth.filter(({ size }) => size === '10,000 domains')
  const [added, passed] = [read('a domain was added'), read('a day has passed')]
  return [
    `From spawn to the first answer: ${figure(start(OURS).milliseconds)} ms and ${figure(start(OURS).mebibytes)} MiB, bare Express ${figure(start(EXPRESS).milliseconds)} ms and ${figure(start(EXPRESS).mebibytes)} MiB.`,
    `\`startUnderstudy()\` in a test: ${figure(library.first)} ms the first time in a process, then ${figure(library.later)} ms.`,
    `The first GET /dmarc after a domain was added takes ${added[0]} ms of processor time with 1,000 records and ${added[1]} ms with 10,000; on a new day ${passed[0]} ms and ${passed[1]} ms.`,
    `The journal (\`--journal\`) costs: without it, ${request} is ${figure(rate(OURS_WITHOUT_JOURNAL) / rate(OURS))} times as fast.`,
    `Memory in use is ${mebibytes(memory.before)} once the journal is full, and ${mebibytes(memory.after)} after ${figure(memory.requests)} requests.`,
    `With ${many.size}, a write costs ${figure(many.toFirst)} times what it costs with one. With 10,000 domains instead of 100: ${large.map(({ write, toFirst }) => `to ${write} ${figure(toFirst)} times`).join(', ')}.`,
    `The p99 of reads while another account is written to is ${figure(storm.ratio)} times that while it is read.`,
    `With \`--data\`, ${figure(data[0].perSecond)} writes per second, each answered when it is on disk; lowdb with the same records in one file and \`await db.write()\`: ${figure(data[1].perSecond)}, and ${figure(data[2].perSecond)} where it keeps no more of a domain than its name.`,
    ...describeDashboard(dashboard),
  ]
}

/** Nothing where there was no browser. */
function describeDashboard({ firstPaint, overview, gzippedBytes, largeOverview, table, longestFrame, keystroke } = {}) {
  if (firstPaint === undefined) return []
  return [
    `The dashboard (${figure(gzippedBytes / 1000)} kB, gzipped) is painted ${figure(firstPaint)} ms after it was asked for, and shows the overview after ${figure(overview)} ms. The overview of 10,000 domains is there after ${figure(largeOverview)} ms, a table of them after ${figure(table)} ms, its longest frame while it scrolls takes ${figure(longestFrame)} ms, and a key in its search is answered in ${figure(keystroke)} ms.`,
  ]
}

function mebibytes({ liveBytes }) {
  return `${figure(liveBytes / 2 ** 20)} MiB`
}

function requestsOf(rows) {
  return [...new Set(rows.map(({ request }) => request))]
}

function rowOf(rows, request, candidate) {
  return rows.find((row) => row.request === request && row.candidate === candidate)
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) writeChart(JSON.parse(readFileSync(RESULTS, 'utf8')))
