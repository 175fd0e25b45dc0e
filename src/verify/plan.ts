import type { Contract } from '../contract/contract.ts'
import { plural, shorten } from '../ground/show.ts'
import { inWords } from './budget.ts'
import { costOfRestoring } from './cleanup.ts'
import { countByPath, describeRequest, isRead, type Probe, type ProbeRequest, type ProbeScene } from './probe.ts'
import { PROBES } from './probes.ts'

/** A probe of a plan. */
export interface PlannedProbe {
  probe: Probe
  /** The requests as they would be sent in an account of nobody else. */
  sample: readonly ProbeRequest[]
  /** What it takes from the scene: monitored domains that are in no group, and the least number of members of each group. */
  needs: { domains: number; groups: readonly number[] }
  /** Whether it, or what sets it up, changes the account. */
  writes: boolean
  /** Why the run may not ask it. */
  barrier?: string
}

/** What a run asks. A run that may not write asks what only reads and needs no items of its own. */
export function planProbes({ writes, exhaust }: { writes: boolean; exhaust: boolean }): readonly PlannedProbe[] {
  return PROBES.map((probe) => {
    const planned = planProbe(probe)
    if (probe.exhausts && !exhaust) return { ...planned, barrier: 'it uses up a quota, for which --exhaust asks' }
    if (planned.writes && !writes) return { ...planned, barrier: 'it is a write, which --allow-writes permits' }
    return planned
  })
}

/** Tries the probe with names as a run makes them, and so learns what it needs. */
function planProbe(probe: Probe): PlannedProbe {
  const mark = 'verify-RUN'
  const groups: number[] = []
  let domains = 0
  let names = 0
  const fresh = () => `${mark}-${++names}.example`
  const name = () => `${mark} ${++names}`
  const scene: ProbeScene = {
    ...{ mark, readableId: mark, fresh, name },
    own() {
      domains++
      return fresh()
    },
    group(members = 0) {
      const id = `GROUP${groups.push(members)}`
      return { id, name: name(), domains: Array.from({ length: members }, fresh) }
    },
  }
  const sample = [probe.send(scene)].flat()
  const writes = domains + groups.length > 0 || !sample.every(isRead)
  return { probe, sample, needs: { domains, groups }, writes }
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

function describeProbe({ probe: { id, rule = [], decides = [] }, sample }: PlannedProbe, number: number): string[] {
  const price = [...countByPath(sample)].map(([path, count]) => `${count} of ${path}`).join(', ') || 'nothing'
  const told = [...rule, ...decides].join(', ')
  return [
    `${number}. ${id} (costs ${price})${told === '' ? '' : `: decides ${shorten(told, 300)}`}`,
    ...sample.map((each) => `     ${describeRequest(each)}${isRead(each) ? '' : ' (write)'}`),
  ]
}
