import { OPERATIONS } from '../../behaviour/operations/operations.ts'
import { bindBehaviours } from '../../behaviour/service-contract.ts'
import type { Choices } from '../../contract/choices.ts'
import type { Contract } from '../../contract/contract.ts'
import { Coverage } from '../../coverage/coverage.ts'
import { layoutOf } from '../../coverage/layout.ts'
import { compileVariants } from '../permitted.ts'
import { Holdings, isOwnDomain } from './holdings.ts'
import { type Probe, type ProbeRequest, quotaPathOf } from './probe.ts'
import { PROBES } from './probes.ts'
import { RehearsedService } from './rehearsed-service.ts'
import { Stage } from './stage.ts'

/** What a probe would tell, found out by a rehearsal under our choices and under each alternative. */
export interface Foresight {
  probe: Probe
  requests: readonly ProbeRequest[]
  /** Requests by the path of their quota, without those that set it up. */
  cost: Readonly<Record<string, number>>
  /** For each assumption on which the answers depend: the alternatives that look the same, 0 for our choice. */
  tells: Readonly<Record<string, readonly (readonly number[])[]>>
  /** The rules that it shows under our choices. */
  rules: readonly string[]
  /** What is answered under our choices, each such as `400 invalid_json`. */
  answers: readonly string[]
  /** For each rule: the codes of all answers, as `codesOf` joins them, with which a service shows that it keeps the rule. */
  proofs: ReadonlyMap<string, ReadonlySet<string>>
}

/** The codes of answers as one text. `success` stands for a success. */
export function codesOf(codes: readonly (string | undefined)[]): string {
  return codes.map((code) => code ?? 'success').join(' ')
}

const MARK = 'verify-rehearsal'
const SUFFIX = 'example'
/** More requests than this do not set anything up that a service accepts. */
export const MOST_SET_UPS = 6

const known = new WeakMap<Choices, Promise<readonly Foresight[]>>()

/** What each probe would tell. It is computed once for a contract, and takes about two seconds. */
export function foresee(choices: Choices): Promise<readonly Foresight[]> {
  let foresight = known.get(choices)
  if (foresight === undefined) {
    foresight = rehearseAll(choices)
    known.set(choices, foresight)
  }
  return foresight
}

async function rehearseAll(choices: Choices): Promise<readonly Foresight[]> {
  const own = await rehearse(choices.contract)
  /** By the id of an assumption, then the number of an alternative: what is answered to each probe. */
  const worlds = new Map<string, Map<number, readonly Rehearsal[]>>()
  for (const { id, number, contract } of await compileVariants(choices)) {
    const others = worlds.get(id) ?? new Map([[0, own]])
    worlds.set(id, others.set(number, await rehearse(contract)))
    // A server or a person may wait beside it.
    await new Promise(setImmediate)
  }
  return PROBES.flatMap((probe, index) => {
    const rehearsal = own[index]
    if (rehearsal === undefined) return []
    const tells: Record<string, number[][]> = {}
    const proofs = new Map<string, Set<string>>()
    for (const [id, others] of worlds) {
      const alike = alikeIn(others, index)
      if (alike.length > 1) tells[id] = alike
      for (const rehearsals of others.values()) addProofs(proofs, rehearsals[index])
    }
    const { requests, rules, answers } = rehearsal
    return [{ probe, requests, cost: costOf(requests), tells, rules, answers, proofs }]
  })
}

function addProofs(proofs: Map<string, Set<string>>, rehearsal: Rehearsal | undefined): void {
  for (const rule of rehearsal?.rules ?? []) {
    proofs.set(rule, (proofs.get(rule) ?? new Set()).add(rehearsal?.codes ?? ''))
  }
}

interface Rehearsal {
  requests: readonly ProbeRequest[]
  transcript: string
  codes: string
  answers: readonly string[]
  rules: readonly string[]
}

/** Asks each probe of an account of its own. */
async function rehearse(contract: Contract): Promise<Rehearsal[]> {
  const service = await RehearsedService.open(bindBehaviours(contract, { behaviours: OPERATIONS, simulator: false }))
  /** By what probes need: an account that has it. */
  const prepared = new Map<string, Prepared>()
  return PROBES.map((probe) => {
    const needs = `${probe.domains ?? 0} ${probe.groups ?? []}`
    const known = prepared.get(needs) ?? prepare(probe, service.copy())
    prepared.set(needs, known)
    return rehearseOne(probe, known)
  })
}

interface Prepared {
  service: RehearsedService
  holdings: Holdings
  names: number
}

function prepare(probe: Probe, service: RehearsedService): Prepared {
  const ownership = { mark: MARK, asked: new Set<string>(), foreign: new Set<string>() }
  const holdings = new Holdings((name) => isOwnDomain(name, ownership))
  const stage = new Stage({ mark: MARK, suffix: SUFFIX, holdings })
  for (let sent = 0; sent < MOST_SET_UPS; sent++) {
    const setUp = stage.nextSetUp(probe)
    if (setUp === undefined) break
    holdings.learn(setUp, service.answer(setUp).data)
  }
  return { service, holdings, names: stage.names }
}

function rehearseOne(probe: Probe, { service: prepared, holdings, names }: Prepared): Rehearsal {
  const service = prepared.copy()
  const stage = new Stage({ mark: MARK, suffix: SUFFIX, holdings: holdings.copy(), names })
  if (stage.nextSetUp(probe) !== undefined)
    return { requests: [], transcript: 'cannot be set up', codes: '', answers: [], rules: [] }
  const requests = probe.requests(stage.sceneFor(probe))
  const coverage = new Coverage(service.contract)
  const codes: (string | undefined)[] = []
  const answers: string[] = []
  const transcript = requests.map((request) => {
    const { status, text, fields, observation } = service.answer(request)
    coverage.observe(observation)
    codes.push(observation.code)
    answers.push(observation.code === undefined ? `${status}` : `${status} ${observation.code}`)
    return `${status} ${text} ${JSON.stringify(fields)}`
  })
  const rules = layoutOf(service.contract).items.flatMap((item, number) =>
    'rule' in item && coverage.hasShown(number) ? [item.rule.id] : [],
  )
  return { requests, transcript: transcript.join('\n'), codes: codesOf(codes), answers, rules }
}

/** The numbers whose answers to a probe are the same, together. */
function alikeIn(worlds: ReadonlyMap<number, readonly Rehearsal[]>, index: number): number[][] {
  const alike = new Map<string, number[]>()
  for (const [number, rehearsals] of worlds) {
    const transcript = rehearsals[index]?.transcript ?? ''
    alike.set(transcript, [...(alike.get(transcript) ?? []), number])
  }
  return [...alike.values()]
}

function costOf(requests: readonly ProbeRequest[]): Record<string, number> {
  const cost: Record<string, number> = {}
  for (const request of requests) cost[quotaPathOf(request)] = (cost[quotaPathOf(request)] ?? 0) + 1
  return cost
}
