// What results.json says, as the documents beside docs/speed.md's first table show it.
import { describeOrigin } from './documents.mjs'
import { countFindings } from './statistics.mjs'
import { figure } from './table.mjs'

/** Of which program and machine the figures are. */
export function describeRun({ machine, plan, ...origin }) {
  const pinned = `server and load ${machine.pinned ? 'on a core each' : 'on the same cores'}`
  return `${describeOrigin(origin)}: Node ${machine.node.slice(1)}, ${machine.cpu}, ${pinned}, medians of ${plan.rounds} rounds of ${plan.seconds} s.`
}

export function describeDoors({ doors: { rows, absent } }) {
  const lines = rows.map(({ name, size, milliseconds, perCpuSecond }) => [
    name,
    size === undefined ? '' : `${figure(size / 2 ** 20)} MiB`,
    `${figure(milliseconds)} ms`,
    figure(perCpuSecond),
  ])
  return [
    ...table(['way', 'size', 'first answer after', 'requests per core and second'], lines),
    ...(absent.length === 0 ? [] : ['', `Not measured in this run: ${absent.join(', ')}.`]),
  ].join('\n')
}

/** What one server and one Redis serve. */
export function describeReplicas({ replicas, storeMemory }) {
  const [ours, reads, writes] = ['dmarc-understudy', 'GET', 'PATCH']
  const row = (kind, candidate) =>
    replicas.find((each) => each.request.startsWith(kind) && each.candidate === `${ours}${candidate}`)
  if (row(reads, ' --store') === undefined) return 'Not measured in this run: there was no redis-server.'
  const lines = [
    ['with its accounts in memory', ', in memory'],
    ['with `--data`', ' --data'],
    ['with `--store`', ' --store'],
  ].map(([name, candidate]) => [name, ...[reads, writes].map((kind) => figure(row(kind, candidate).perCpuSecond))])
  const ofRedis = [reads, writes].map((kind) => row(kind, ' --store').redisMicroseconds)
  const served = ofRedis.map((microseconds) => `${figure(1e6 / microseconds)} (${figure(microseconds)} µs each)`)
  return [
    ...table(
      ['in a second of its processor', 'reads of a group', 'changes of a group'],
      [
        ...lines.map(([name, ...figures]) => [`a server ${name}`, ...figures]),
        ['one Redis, with the journal', ...served],
      ],
    ),
    ...(storeMemory === undefined ? [] : ['', describeStoreMemory(storeMemory)]),
  ].join('\n')
}

function describeStoreMemory({ accounts, bytesOfExchange }) {
  const [sizes, bytes] = [
    accounts.map(({ domains }) => domains.toLocaleString('en-US')),
    accounts.map((each) => each.bytes),
  ]
  return `Memory of the store for a new account of ${sizes.join(', ')} domains: ${bytes.map(kilobytes).join(', ')}. A small exchange in the journal takes ${kilobytes(bytesOfExchange)}.`
}

function kilobytes(bytes) {
  return `${figure(bytes / 1000)} kB`
}

export function describeContract({ contract: { ready, costs, planted, changes } }) {
  const [ours, strict, other] = ['dmarc-understudy', 'dmarc-understudy, refuse and error', 'express-openapi-validator']
  const [plain, overlaid] = ready.map(({ cpuMilliseconds }) => figure(cpuMilliseconds))
  const changed = (name) => changes.find(({ candidate }) => candidate === name).changed || 'none'
  const rate = (request, name) => costs.find((row) => row.request === request && row.candidate === name).perCpuSecond
  const added = (request, name) => 1 / rate(request, name) - 1 / rate(request, 'none')
  const requests = [...new Set(costs.map(({ request }) => request))]
  return [
    ...table(
      ['', ours, other],
      [
        ...countFindings(planted).map(({ part, all, found }) => [
          `finds, of ${all} unlawful ${part}s`,
          ...[ours, other].map((name) => describeFound(found[name], all)),
        ]),
        [`changes, of ${changes[0].lawful} lawful responses`, ...[ours, other].map(changed)],
      ],
    ),
    '',
    ...table(
      ['requests per second of processor time', 'without either', 'contract', 'contract, `refuse` and `error`', other],
      requests.map((request) => [request, ...['none', ours, strict, other].map((name) => figure(rate(request, name)))]),
    ),
    '',
    `Beside the work of the application alone, \`contract\` adds, as a multiple of what ${other} adds: ${requests.map((request) => `${figure(added(request, ours) / added(request, other))} for ${request}`).join(', ')}.`,
    `Until it can judge the first request, a new process needs ${plain} ms of processor time, and ${overlaid} ms with an overlay.`,
  ].join('\n')
}

function describeFound({ right, otherwise }, all) {
  if (right === all) return 'all'
  return otherwise === 0 ? `${right}` : `${right}, and ${otherwise} more as mistakes of something else`
}

/** The bars that the run has missed. */
export function describeBars({ bars }) {
  const missed = bars.filter(({ met }) => met === false)
  const set = bars.filter(({ met }) => met !== undefined)
  if (missed.length === 0) return `All ${set.length} bars are met.`
  return [
    `${missed.length} of ${set.length} bars are missed:`,
    '',
    ...missed.map(({ work, measured, bar }) => `- ${work}: ${figure(measured)}, to be ${bar}`),
  ].join('\n')
}

export function table(heads, lines) {
  return [heads, heads.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`)
}
