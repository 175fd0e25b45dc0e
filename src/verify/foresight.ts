import { OPERATIONS } from '../behaviour/operations/operations.ts'
import { bindBehaviours } from '../behaviour/service-contract.ts'
import { type Choices, readChoices, tryToCompile } from '../contract/choices.ts'
import type { Contract } from '../contract/contract.ts'
import { ContractError } from '../contract/contract-error.ts'
import { OWN_DOCUMENT } from '../contract/document.ts'
import { readFindings, writeFindings } from '../contract/prepared.ts'
import { Coverage } from '../coverage/coverage.ts'
import { layoutOf } from '../coverage/layout.ts'
import { readPackageFile } from '../ground/package-files.ts'
import { Turns } from '../ground/turns.ts'
import { Holdings } from './holdings.ts'
import { type Probe, type ProbeRequest, quotaPathOf } from './probe.ts'
import { ProbeSetup } from './probe-setup.ts'
import { PROBES } from './probes.ts'
import { RehearsedService } from './rehearsed-service.ts'

/** A probe with what it would show, found by a rehearsal under our choices and under each alternative. */
export interface ForeseenProbe extends Probe {
  /** Its requests in the rehearsal. */
  rehearsed: readonly ProbeRequest[]
  /** The number of requests for each quota path, without the requests that set up the probe. */
  cost: Readonly<Record<string, number>>
  /** For each assumption that the answers depend on: groups of alternatives with equal answers, 0 for our choice. */
  tells: Readonly<Record<string, readonly (readonly number[])[]>>
  /** The rules that it shows under our choices. */
  rules: readonly string[]
  /** The answers under our choices, each such as `400 invalid_json`. */
  answers: readonly string[]
  /** For each rule: the codes of all answers (see `codesOf`) with which a service shows that it keeps the rule. */
  proofs: ReadonlyMap<string, ReadonlySet<string>>
}

/** The codes of all answers as one text. `success` stands for a success. */
export function codesOf(codes: readonly (string | undefined)[]): string {
  return codes.map((code) => code ?? 'success').join(' ')
}

const MARK = 'verify-rehearsal'
const SUFFIX = 'example'
/** If the service accepts the requests, no more than this are needed to set up a probe. */
export const MOST_SET_UPS = 6

/** In milliseconds: how long the rehearsal runs before it yields. */
const TURN = 20

const known = new WeakMap<Choices, Promise<readonly ForeseenProbe[]>>()

/**
 * What each probe would show. For the document of the package, the build has computed it. For another document, it is
 * computed once in a process, which takes some seconds. `onProgress` is told how many of all alternatives are done.
 */
export function foresee(
  choices: Choices,
  onProgress: (done: number, all: number) => void = () => {},
): Promise<readonly ForeseenProbe[]> {
  const foresight = known.get(choices) ?? rehearseAll(choices, onProgress)
  known.set(choices, foresight)
  return foresight
}

async function rehearseAll(
  choices: Choices,
  onProgress: (done: number, all: number) => void,
): Promise<readonly ForeseenProbe[]> {
  const { alternatives, contract } = choices
  const rehearser = new Rehearser()
  const own = await rehearser.rehearse(contract)
  const kept = isOfPackage(contract) ? readKept() : undefined
  if (kept !== undefined) return PROBES.flatMap((probe, index) => foresightOf(probe, own[index], kept[probe.id]))
  /** By assumption id and alternative number: the rehearsal of each probe. */
  const rehearsed = new Map<string, Map<number, readonly ProbeRehearsal[]>>()
  const turns = new Turns(TURN)
  for (const [done, alternative] of alternatives.entries()) {
    onProgress(done, alternatives.length)
    const changed = await tryToCompile(choices, [alternative])
    // Overlays of the user may already be what the alternative would be.
    if (changed instanceof ContractError) continue
    const others = rehearsed.get(alternative.id) ?? new Map([[0, own]])
    rehearsed.set(alternative.id, others.set(alternative.number, await rehearser.rehearse(changed)))
    // A server in the same process or a user may wait.
    if (turns.isOver()) await turns.next()
  }
  return PROBES.flatMap((probe, index) => {
    const tells: Record<string, number[][]> = {}
    const proofs: Record<string, string[]> = {}
    for (const [id, others] of rehearsed) {
      const alike = alikeIn(others, index)
      if (alike.length > 1) tells[id] = alike
      for (const rehearsals of others.values()) addProofs(proofs, rehearsals[index])
    }
    return foresightOf(probe, own[index], { tells, proofs })
  })
}

/** The facts about a probe that take long to compute. */
interface ProbeKnowledge {
  tells: Readonly<Record<string, readonly (readonly number[])[]>>
  /** By the id of a rule. */
  proofs: Readonly<Record<string, readonly string[]>>
}

function foresightOf(
  probe: Probe,
  rehearsal: ProbeRehearsal | undefined,
  told: ProbeKnowledge | undefined,
): ForeseenProbe[] {
  if (rehearsal === undefined || told === undefined) return []
  const { requests, rules, answers } = rehearsal
  const proofs = new Map(Object.entries(told.proofs).map(([rule, codes]) => [rule, new Set(codes)]))
  return [{ ...probe, rehearsed: requests, cost: costOf(requests), tells: told.tells, rules, answers, proofs }]
}

/** Whether a contract is that of the package, without overlays. */
function isOfPackage({ document }: Contract): boolean {
  return document.prepared !== undefined
}

const ABOUT = 'foresight'

/** The facts that the build has stored, by probe id; `undefined` if the program runs from its sources. */
function readKept(): Record<string, ProbeKnowledge> | undefined {
  return readFindings(readPackageFile(OWN_DOCUMENT), ABOUT) as Record<string, ProbeKnowledge> | undefined
}

/** Stores the facts about the document of the package, so that no run of verify has to compute them again. */
export async function keepForesight(): Promise<void> {
  const foresight = await foresee(await readChoices([]))
  const told = foresight.map(({ id, tells, proofs }): [string, ProbeKnowledge] => [
    id,
    { tells, proofs: Object.fromEntries([...proofs].map(([rule, codes]) => [rule, [...codes]])) },
  ])
  await writeFindings(readPackageFile(OWN_DOCUMENT), ABOUT, Object.fromEntries(told))
}

function addProofs(proofs: Record<string, string[]>, rehearsal: ProbeRehearsal | undefined): void {
  const { rules = [], codes = '' } = rehearsal ?? {}
  for (const rule of rules) {
    const known = proofs[rule] ?? []
    if (!known.includes(codes)) proofs[rule] = [...known, codes]
  }
}

interface ProbeRehearsal {
  requests: readonly ProbeRequest[]
  transcript: string
  codes: string
  answers: readonly string[]
  rules: readonly string[]
}

const IMPOSSIBLE: ProbeRehearsal = { requests: [], transcript: 'cannot be set up', codes: '', answers: [], rules: [] }

/** Sends each probe to an account of its own. */
class Rehearser {
  /** For each probe: its rehearsals, by the transcript of the answers. */
  readonly #known: readonly Map<string, ProbeRehearsal>[] = PROBES.map(() => new Map())

  async rehearse(contract: Contract): Promise<readonly ProbeRehearsal[]> {
    const service = await RehearsedService.open(bindBehaviours(contract, { behaviours: OPERATIONS, simulator: false }))
    /** Probes with the same needs start with the same account. */
    const prepared = new Map<string, PreparedAccount>()
    return PROBES.map((probe, index) => {
      const needs = `${probe.domains ?? 0} ${probe.groups ?? []}`
      const account = prepared.get(needs) ?? prepare(probe, service.copy())
      prepared.set(needs, account)
      return this.#rehearseOne(probe, index, account)
    })
  }

  #rehearseOne(probe: Probe, index: number, { service: prepared, holdings, names }: PreparedAccount): ProbeRehearsal {
    const service = prepared.copy()
    const setup = new ProbeSetup({ suffix: SUFFIX, holdings: holdings.copy(), names })
    if (setup.nextSetUp(probe) !== undefined) return IMPOSSIBLE
    const requests = probe.requests(setup.sceneFor(probe))
    const answers = requests.map((request) => service.answer(request))
    const transcript = answers
      .map(({ status, text, fields }) => `${status} ${text} ${JSON.stringify(fields)}`)
      .join('\n')
    const known = this.#known[index]?.get(transcript)
    if (known !== undefined) return known
    const coverage = new Coverage(service.contract)
    for (const { observation } of answers) coverage.observe(observation)
    const rehearsal = {
      requests,
      transcript,
      codes: codesOf(answers.map(({ observation: { code } }) => code)),
      answers: answers.map(({ status, observation: { code } }) =>
        code === undefined ? `${status}` : `${status} ${code}`,
      ),
      rules: layoutOf(service.contract).items.flatMap((item, number) =>
        'rule' in item && coverage.hasShown(number) ? [item.rule.id] : [],
      ),
    }
    this.#known[index]?.set(transcript, rehearsal)
    return rehearsal
  }
}

interface PreparedAccount {
  service: RehearsedService
  holdings: Holdings
  names: number
}

/** An account with everything that the probe needs, if the service accepts that. */
function prepare(probe: Probe, service: RehearsedService): PreparedAccount {
  const holdings = new Holdings(MARK)
  const setup = new ProbeSetup({ suffix: SUFFIX, holdings })
  for (let sent = 0; sent < MOST_SET_UPS; sent++) {
    const setUp = setup.nextSetUp(probe)
    if (setUp === undefined) break
    holdings.learn(setUp, service.answer(setUp).data())
  }
  return { service, holdings, names: setup.names }
}

/** Groups of the numbers with equal answers to a probe. */
function alikeIn(byNumber: ReadonlyMap<number, readonly ProbeRehearsal[]>, index: number): number[][] {
  const alike = new Map<string, number[]>()
  for (const [number, rehearsals] of byNumber) {
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
