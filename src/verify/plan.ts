import type { Contract } from '../contract/contract.ts'
import { plural } from '../ground/plural.ts'
import { shorten } from '../ground/show.ts'
import { inWords } from './budget.ts'
import { costOfRestoring } from './cleanup.ts'
import {
  countByPath,
  describeRequest,
  isRead,
  type Needs,
  type Probe,
  type ProbeRequest,
  type ProbeScene,
} from './probe.ts'
import { PROBES } from './probes.ts'

/** A probe of a plan. */
export interface PlannedProbe {
  probe: Probe
  /** The requests as they would be sent in an account of nobody else. */
  sample: readonly ProbeRequest[]
  /** Why the run may not ask it. */
  barrier?: string
}

/** What a run asks. A run that may not write asks what only reads and needs no items of its own. */
export function planProbes({ writes, exhaust }: { writes: boolean; exhaust: boolean }): readonly PlannedProbe[] {
  return PROBES.map((probe) => {
    const sample = probe.send(sceneOf(probe.needs))
    if (probe.exhausts === true) {
      return { probe, sample, ...(!exhaust && { barrier: 'it uses up a quota, for which --exhaust asks' }) }
    }
    const isBarred = !writes && needsWrites(probe, sample)
    return { probe, sample, ...(isBarred && { barrier: 'it is a write, which --allow-writes permits' }) }
  })
}

/** Whether the requests of a probe, or those that set it up, change the account. */
export function needsWrites({ needs = {} }: Probe, sample: readonly ProbeRequest[]): boolean {
  return needs.domains !== undefined || needs.groups !== undefined || !sample.every(isRead)
}

/** A scene with names as a run makes them. */
function sceneOf({ domains = 0, groups = [] }: Needs = {}): ProbeScene {
  const mark = 'verify-RUN'
  let names = 0
  const freshDomain = () => `${mark}-${++names}.example`
  const freshName = () => `${mark} ${++names}`
  return {
    ...{ mark, freshDomain, freshName, unknownId: mark, readableId: mark },
    domains: Array.from({ length: domains }, freshDomain),
    groups: groups.map((members, index) => ({
      id: `GROUP${index + 1}`,
      name: freshName(),
      domains: Array.from({ length: members }, freshDomain),
    })),
  }
}

/** What a run would send, in lines for the user. */
export function describePlan(
  planned: readonly PlannedProbe[],
  { operations }: Pick<Contract, 'operations'>,
  { writes, reserve }: { writes: boolean; reserve: number },
): string[] {
  const plan = planned.filter(({ barrier }) => barrier === undefined)
  const all = countByPath(plan.flatMap(({ sample }) => sample))
  const quotas = new Map(operations.flatMap(({ path, quota }) => (quota === undefined ? [] : [[path, quota]])))
  const totals = [...quotas].map(([path, { limit, window }]) => {
    const count = all.get(path) ?? 0
    const held = writes ? (costOfRestoring(0, 0)[path] ?? 0) : 0
    const windows = plural(Math.ceil(count / Math.max(1, limit - reserve - held)), 'window')
    return `${path}: ${count} requests in ${windows} of ${inWords(window)}; ${limit} each, less ${reserve} for others`
  })
  const end = writes
    ? 'What these requests need is set up before, and everything that they make is removed at the end; that costs some more.'
    : 'Only GET and HEAD are sent.'
  return [...plan.flatMap((each, index) => describeProbe(each, index + 1)), '', ...totals, end]
}

function describeProbe({ probe, sample }: PlannedProbe, number: number): string[] {
  const price = [...countByPath(sample)].map(([path, count]) => `${count} of ${path}`).join(', ')
  const told = [...(probe.rule ?? []), ...(probe.decides ?? [])].join(', ')
  const decides = told === '' ? '' : `: decides ${shorten(told, 300)}`
  return [
    `${number}. ${probe.id} (costs ${price === '' ? 'nothing' : price})${decides}`,
    ...sample.map((each) => `     ${describeRequest(each)}${isRead(each) ? '' : ' (write)'}`),
  ]
}
