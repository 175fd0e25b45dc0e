// Draws soak-results.json as soak.svg, and writes its figures into docs/speed.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describeOrigin, writeBlocks } from './documents.mjs'
import { judgeSoak } from './soak-bars.mjs'
import { median } from './statistics.mjs'
import { picture, text } from './svg.mjs'
import { figure } from './table.mjs'

const [RESULTS, CHART] = ['soak-results.json', 'soak.svg'].map((path) => fileURLToPath(new URL(path, import.meta.url)))

/** Pixels. */
const [WIDTH, MARGIN, LEFT, PANEL, TITLE, LEGEND] = [760, 16, 60, 150, 28, 22]
/** The servers, in their order. */
const COLORS = ['one', 'other']

export function writeSoak(results) {
  writeFileSync(CHART, drawSoak(results))
  writeBlocks([soakBlock(results)])
}

export function soakBlock(results) {
  return { path: 'docs/speed.md', name: 'soak', content: describeSoak(results), writer: 'soak-chart' }
}

/** A panel for the memory and one for the p99, each with a line for each server and figure. */
export function drawSoak({ plan, servers }) {
  const lines = (pick, kind, of) =>
    servers.map(({ name, windows }, index) => ({
      name: `${of}${name}`,
      kind: `${COLORS[index]}${kind}`,
      points: windows.map((window) => [window.minute, pick(window)]),
    }))
  const panels = [
    {
      title: 'Memory, MiB',
      lines: [
        ...lines(({ residentMebibytes }) => residentMebibytes, '', 'resident, '),
        ...lines(({ liveMebibytes }) => liveMebibytes, ' dashed', 'live after a collection, '),
      ],
    },
    {
      title: 'p99 of a small read, ms',
      lines: [
        ...lines(({ p99Ms }) => p99Ms, '', ''),
        {
          ...lines(({ referenceP99Ms }) => referenceP99Ms, '', '')[0],
          name: 'bare node:http beside it',
          kind: 'beside',
        },
      ],
    },
  ]
  const parts = []
  let y = MARGIN
  for (const panel of panels) {
    parts.push(...drawPanel(panel, plan.minutes, y))
    y += TITLE + LEGEND * Math.ceil(panel.lines.length / 2) + PANEL + 2 * MARGIN
  }
  parts.push(text(WIDTH - MARGIN, y, 'minutes', 'end'))
  return picture({
    width: WIDTH,
    height: y + MARGIN,
    title: `Memory and p99 in a soak of ${plan.minutes} minutes`,
    styles: [
      'path { fill: none; stroke-width: 1.5 } .dashed { stroke-dasharray: 5 3 } .one { stroke: #0969da } .other { stroke: #bc4c00 } .beside { stroke: #8c959f } .grid { stroke: #d1d9e0 }',
      '.one { stroke: #4493f8 } .other { stroke: #f0883e } .beside { stroke: #6e7681 } .grid { stroke: #3d444d }',
    ],
    parts,
  })
}

function drawPanel({ title, lines }, minutes, top) {
  const step = roundStep(Math.max(...lines.flatMap(({ points }) => points.map(([, value]) => value))) / 3)
  const bottom = top + TITLE + LEGEND * Math.ceil(lines.length / 2) + PANEL
  const [width, highest] = [WIDTH - LEFT - MARGIN, 4 * step]
  const x = (minute) => (LEFT + (width * minute) / minutes).toFixed(1)
  const y = (value) => (bottom - (PANEL * Math.min(value, highest)) / highest).toFixed(1)
  return [
    text(MARGIN, top + 14, title, 'title'),
    ...lines.map(({ name, kind }, index) => {
      const [left, height] = [LEFT + (index % 2) * (width / 2), top + TITLE + LEGEND * Math.floor(index / 2) + 8]
      return `<path class="${kind}" d="M${left} ${height - 4}h24"/>${text(left + 32, height, name, 'name')}`
    }),
    ...[0, 1, 2, 3, 4].map((count) => {
      const height = y(count * step)
      return `<path class="grid" d="M${LEFT} ${height}h${width}"/>${text(LEFT - 8, Number(height) + 4, figure(count * step).replace('–', '0'), 'end')}`
    }),
    ...[0, 1, 2, 3].map((part) =>
      text(Number(x((minutes * part) / 3)), bottom + 16, `${(minutes * part) / 3}`, part === 0 ? '' : 'end'),
    ),
    ...lines.map(({ kind, points }) => {
      const path = points.map(([minute, value]) => `${x(minute)} ${y(value)}`)
      return `<path class="${kind}" d="M${path.join('L')}"/>`
    }),
  ]
}

/** The least of 1, 2, 5, 10, 20 … that is not less. */
function roundStep(value) {
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= value * 0.9999)
}

/** The run in words. */
function describeSoak(results) {
  const { machine, plan, servers } = results
  return [
    `${describeOrigin(results)}, Node ${machine.node.slice(1)}, ${machine.cpu}: ${plan.minutes} minutes, ${plan.workers} clients that wait ${plan.pause} ms between two requests, ${plan.accounts} accounts.`,
    '',
    '![Memory and p99 over the time of the soak, of a server in memory and of one with a data folder](../bench/soak.svg)',
    '',
    ...servers.map((server) => describeServer(server, judgeSoak({ servers: [server] }))),
  ].join('\n')
}

function describeServer({ name, requests, statuses, windows }, judged) {
  const counted = Object.entries(statuses).map(([status, count]) => `${count.toLocaleString('en-US')} × ${status}`)
  const third = windows.length / 3
  const [second, last] = [windows.slice(third, 2 * third), windows.slice(2 * third)]
  const from = (key, unit) => {
    const [before, after] = [second, last].map((part) => figure(median(part.map((window) => window[key]))))
    return `${before} and ${after} ${unit}`
  }
  return [
    `- The server ${name}: ${requests.toLocaleString('en-US')} requests (${counted.join(', ')}).`,
    `In the second third and in the last, ${from('liveMebibytes', 'MiB')} live, ${from('residentMebibytes', 'MiB')} are resident,`,
    `the p99 is ${from('p99Ms', 'ms')} (of bare node:http beside it ${from('referenceP99Ms', 'ms')}),`,
    `and a request takes ${from('cpuMicroseconds', 'µs')} of processor time.`,
    `${judged.map(({ work, growth, word }) => `${work[0].toUpperCase()}${work.slice(1)}: ${WORDS[word](growth)}`).join('; ')}.`,
  ].join(' ')
}

const WORDS = {
  flat: () => 'flat',
  grows: (growth) => `grew by ${(growth * 100).toFixed(1)} %`,
  unknown: () => 'too uneven to say',
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) writeSoak(JSON.parse(readFileSync(RESULTS, 'utf8')))
