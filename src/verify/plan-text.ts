import type { Choices } from '../contract/choices.ts'
import { shorten } from '../ground/show.ts'
import { foresee } from './foresight.ts'
import { type PlannedProbe, planProbes } from './plan.ts'
import { bytesOfBody, isRead, type ProbeRequest } from './probe.ts'
import { isHarmless, PROBES } from './probes.ts'
import { costOfRestoring } from './restoration.ts'
import { inWords } from './target-check.ts'

export interface PlanTextOptions {
  writes: boolean
  exhaust: boolean
  reserve: number
}

/** What a run would send, in lines for the user. Nothing is sent. */
export async function describePlan(choices: Choices, options: PlanTextOptions): Promise<string[]> {
  const probes = options.writes ? PROBES : PROBES.filter(isHarmless)
  const plan = planProbes(await foresee(choices, { probes }), choices.contract, options)
  const limits = new Map<string, number>()
  for (const { path, quota } of choices.contract.operations) if (quota !== undefined) limits.set(path, quota.limit)
  const lines = plan.flatMap((probe, index) => describeProbe(probe, index + 1, limits))
  const totals = [...limits].map(([path, limit]) => {
    const count = plan.reduce((sum, { cost }) => sum + (cost[path] ?? 0), 0)
    const held = options.writes ? (costOfRestoring(0, 0)[path] ?? 0) : 0
    const windows = Math.ceil(count / Math.max(1, limit - options.reserve - held))
    return { path, limit, count, windows }
  })
  const longest = Math.max(1, ...totals.map(({ windows }) => windows))
  const time =
    longest === 1
      ? 'All of it fits into one hour.'
      : `It takes ${longest} windows of an hour (--wait), at least ${inWords((longest - 1) * 3600)}.`
  const writes = options.writes
    ? 'What these requests need is set up before, and everything that they make is removed at the end; that costs some more.'
    : 'Only GET and HEAD are sent.'
  return [
    ...lines,
    '',
    ...totals.map(
      ({ path, limit, count }) => `${path}: ${count} requests; ${limit} an hour, less ${options.reserve} for others`,
    ),
    `${time} ${writes}`,
  ]
}

function describeProbe(
  { probe, requests, cost, decides }: PlannedProbe,
  number: number,
  limits: ReadonlyMap<string, number>,
): string[] {
  const charged = Object.entries(cost).filter(([path]) => limits.has(path))
  const price = charged.map(([path, count]) => `${count} of ${path}`).join(', ')
  const told = decides.length === 0 ? 'shows again what others show' : `decides ${shorten(decides.join(', '), 300)}`
  return [
    `${number}. ${probe.id} (costs ${price === '' ? 'nothing' : price}): ${told}`,
    ...requests.slice(0, SHOWN).map((request) => `     ${describeRequest(request)}`),
    ...(requests.length > SHOWN ? [`     and ${requests.length - SHOWN} more like these`] : []),
  ]
}

/** How many requests of a probe are shown. Only one probe has more, and its requests are all alike. */
const SHOWN = 4

function describeRequest(request: ProbeRequest): string {
  const { method, path, key, scheme, headers = {} } = request
  const bytes = bytesOfBody(request)
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const how = [
    ...(key === 'none'
      ? ['without a key']
      : key === 'wrong'
        ? ['with a wrong key']
        : key === 'bare'
          ? ['with a key alone']
          : []),
    ...(scheme === undefined ? [] : [`with the scheme ${scheme}`]),
    ...fields,
    ...(bytes === undefined
      ? []
      : [bytes.length > 120 ? `a body of ${bytes.length} bytes` : `body ${JSON.stringify(bytes.toString())}`]),
  ]
  const charge = isRead(request) ? '' : ' (write)'
  return `${method} ${path}${charge}${how.length === 0 ? '' : `; ${how.join('; ')}`}`
}
