import { readFileSync } from 'node:fs'
import type { ServiceContract } from '../behaviour/operation.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import { bindBehaviours } from '../behaviour/service-contract.ts'
import { HOSTNAME_SETTINGS } from '../choices/variants.ts'
import { type Alternative, type Choices, readChoices, settingOf, tryToCompile } from '../contract/choices.ts'
import type { Contract } from '../contract/contract.ts'
import { ContractError } from '../contract/contract-error.ts'
import { OWN_DOCUMENT } from '../contract/document.ts'
import { readFindings, writeFindings } from '../contract/prepared.ts'
import { Coverage } from '../coverage/coverage.ts'
import { layoutOf } from '../coverage/layout.ts'
import type { Settings } from '../domain/settings.ts'
import { isObject, type Json, pointTo, stepsOf, valueAt } from '../ground/json.ts'
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

/**
 * Settings that are compiled into the contract, such as the definition of a hostname. All other settings are read when
 * a request is answered. They do not matter to a probe for which they are not read.
 */
const COMPILED: ReadonlySet<string> = new Set<keyof Settings>([
  ...(HOSTNAME_SETTINGS as ReadonlySet<keyof Settings>),
  ...(['precedence', 'decimals', 'quotaHeaders', 'clientRequestIds'] as const),
])
const ERRORS_PLACE = '/components/x-errors/'
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
  const own = await rehearser.rehearseOwn(contract)
  const kept = isOfPackage(contract) ? readKept() : undefined
  if (kept !== undefined) return PROBES.flatMap((probe, index) => foresightOf(probe, own[index], kept[probe.id]))
  /** By assumption id and alternative number: the answers to each probe. */
  const worlds = new Map<string, Map<number, readonly ProbeRehearsal[]>>()
  const turns = new Turns(TURN)
  for (const [done, alternative] of alternatives.entries()) {
    onProgress(done, alternatives.length)
    const rehearsals = await rehearser.rehearse(choices, alternative)
    if (rehearsals === undefined) continue
    const others = worlds.get(alternative.id) ?? new Map([[0, own]])
    worlds.set(alternative.id, others.set(alternative.number, rehearsals))
    // A server in the same process or a user may wait.
    if (turns.isOver()) await turns.next()
  }
  return PROBES.flatMap((probe, index) => {
    const tells: Record<string, number[][]> = {}
    const proofs: Record<string, string[]> = {}
    for (const [id, others] of worlds) {
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
  return readFindings(readFileSync(OWN_DOCUMENT), ABOUT) as Record<string, ProbeKnowledge> | undefined
}

/** Stores the facts about the document of the package, so that no run of verify has to compute them again. */
export async function keepForesight(): Promise<void> {
  const foresight = await foresee(await readChoices([]))
  const told = foresight.map(({ id, tells, proofs }): [string, ProbeKnowledge] => [
    id,
    { tells, proofs: Object.fromEntries([...proofs].map(([rule, codes]) => [rule, [...codes]])) },
  ])
  await writeFindings(readFileSync(OWN_DOCUMENT), ABOUT, Object.fromEntries(told))
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

interface PreparedAccount {
  service: RehearsedService
  holdings: Holdings
  names: number
  /** The settings that were read during the preparation. */
  reads: ReadonlySet<string>
}

/** Sends each probe to its own account. It skips alternatives that cannot change the answers. */
class Rehearser {
  /** Under our choices. */
  #own: readonly ProbeRehearsal[] = []
  /** The operations that refer to a component, by the place of the component. */
  #reach: ReadonlyMap<string, ReadonlySet<string>> = new Map()
  /** The parts of the document that decide about each probe: settings, problems and operations. */
  #reads: readonly ReadonlySet<string>[] = []
  /** For each probe: its rehearsals, by the transcript of the answers. */
  readonly #known: readonly Map<string, ProbeRehearsal>[] = PROBES.map(() => new Map())

  async rehearseOwn(contract: Contract): Promise<readonly ProbeRehearsal[]> {
    const reads = new Set<string>()
    this.#reach = reachOf(contract.document.source)
    const service = await openService(watch(contract, reads), contract)
    const always = new Set(reads)
    const prepared = new Map<string, PreparedAccount>()
    const read = PROBES.map((probe, index) => {
      reads.clear()
      const scene = prepareOnce(prepared, probe, service, reads)
      reads.clear()
      const rehearsal = this.#rehearseOne(probe, index, scene)
      this.#own = [...this.#own, rehearsal]
      return new Set([...always, ...scene.reads, ...reads, ...rehearsal.requests.map(operationOf)])
    })
    // The service may cache what one probe has read, so that the next probe does not read it again.
    const byOperation = new Map<string, Set<string>>()
    for (const [index, { requests }] of this.#own.entries()) {
      for (const request of requests) {
        const all = byOperation.get(operationOf(request)) ?? new Set()
        byOperation.set(operationOf(request), all)
        for (const name of read[index] ?? []) all.add(name)
      }
    }
    this.#reads = this.#own.map(
      ({ requests }, index) =>
        new Set([
          ...(read[index] ?? []),
          ...requests.flatMap((each) => [...(byOperation.get(operationOf(each)) ?? [])]),
        ]),
    )
    return this.#own
  }

  /** `undefined` if the user's overlays already contain the alternative. */
  async rehearse(choices: Choices, alternative: Alternative): Promise<readonly ProbeRehearsal[] | undefined> {
    const parts = partsOf(alternative, this.#reach)
    const isRead = (index: number) => parts?.some((part) => this.#reads[index]?.has(part) === true) ?? true
    if (!PROBES.some((_, index) => isRead(index))) return this.#own
    const contract = await tryToCompile(choices, [alternative])
    // Overlays of the user may already be what the alternative would be.
    if (contract instanceof ContractError) return undefined
    const service = await openService(contract)
    const prepared = new Map<string, PreparedAccount>()
    return PROBES.map((probe, index) =>
      isRead(index)
        ? this.#rehearseOne(probe, index, prepareOnce(prepared, probe, service))
        : (this.#own[index] ?? IMPOSSIBLE),
    )
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

/** HEAD counts as GET. */
function operationOf({ method, path }: ProbeRequest): string {
  return `${method === 'HEAD' ? 'GET' : method} ${path.split('?')[0]}`
}

/** `original` is the contract without the proxies that record what is read. */
function openService(contract: Contract, original = contract): Promise<RehearsedService> {
  const [service, maker] = [contract, original].map((each) =>
    bindBehaviours(each, { behaviours: OPERATIONS, simulator: false }),
  ) as [ServiceContract, ServiceContract]
  return RehearsedService.open(service, maker)
}

/** An account with everything that the probe needs. Probes with the same needs start with the same account. */
function prepareOnce(
  prepared: Map<string, PreparedAccount>,
  probe: Probe,
  service: RehearsedService,
  reads: ReadonlySet<string> = new Set(),
): PreparedAccount {
  const needs = `${probe.domains ?? 0} ${probe.groups ?? []}`
  const known = prepared.get(needs)
  if (known !== undefined) return known
  const { asked, ...scene } = prepare(probe, service.copy())
  const fresh = { ...scene, reads: new Set([...reads, ...asked.map(operationOf)]) }
  prepared.set(needs, fresh)
  return fresh
}

function prepare(
  probe: Probe,
  service: RehearsedService,
): Omit<PreparedAccount, 'reads'> & { asked: readonly ProbeRequest[] } {
  const holdings = new Holdings(MARK)
  const setup = new ProbeSetup({ suffix: SUFFIX, holdings })
  const asked: ProbeRequest[] = []
  for (let sent = 0; sent < MOST_SET_UPS; sent++) {
    const setUp = setup.nextSetUp(probe)
    if (setUp === undefined) break
    asked.push(setUp)
    holdings.learn(setUp, service.answer(setUp).data())
  }
  return { service, holdings, names: setup.names, asked }
}

/** The contract with proxies that record what is read: names of settings, and codes of answered problems. */
function watch(contract: Contract, reads: Set<string>): Contract {
  const settings = new Proxy(contract.settings, {
    get(target, name) {
      reads.add(name as string)
      return target[name as keyof Settings]
    },
  })
  const catalogue = new Proxy(contract.catalogue, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        const [problem] = given
        if (name === 'answer' && isObject(problem)) reads.add(`${problem['code']}`)
        return value.apply(target, given)
      }
    },
  })
  return { ...contract, settings, catalogue }
}

/** What an alternative changes: settings, problems or operations; `undefined` if it may affect every request. */
function partsOf(
  alternative: Alternative,
  reach: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] | undefined {
  const { place } = alternative.assumption
  const setting = requestSettingOf(alternative)
  if (setting !== undefined) return [setting]
  const [first, second = '', third] = stepsOf(place)
  if (place.startsWith(ERRORS_PLACE)) return [third ?? '']
  if (first === 'paths') return METHODS.includes(third ?? '') ? [`${third?.toUpperCase()} ${second}`] : undefined
  // Requests outside of every operation also use the headers and responses.
  const operations = second === 'schemas' && third !== undefined && reach.get(pointTo('/components/schemas', third))
  return operations ? [...operations] : undefined
}

const METHODS: readonly string[] = ['get', 'post', 'patch', 'delete']

/** The operations that refer to a component, directly or indirectly, by the place of the component. */
function reachOf(document: Json): Map<string, Set<string>> {
  const reach = new Map<string, Set<string>>()
  for (const [path, item] of Object.entries(isObject(document['paths']) ? document['paths'] : {})) {
    for (const [method, operation] of Object.entries(isObject(item) ? item : {})) {
      if (METHODS.includes(method)) follow(operation, `${method.toUpperCase()} ${path}`)
    }
  }
  function follow(value: unknown, operation: string): void {
    if (Array.isArray(value)) for (const each of value) follow(each, operation)
    if (!isObject(value)) return
    const reference = value['$ref']
    if (typeof reference === 'string') {
      const place = reference.slice(1)
      const known = reach.get(place) ?? new Set()
      reach.set(place, known)
      if (known.has(operation)) return
      known.add(operation)
      follow(valueAt(document, place), operation)
    }
    for (const each of Object.values(value)) follow(each, operation)
  }
  return reach
}

/** The setting that an alternative changes, if it is read when a request is answered. */
function requestSettingOf(alternative: Alternative): string | undefined {
  const name = settingOf(alternative)
  return name === undefined || COMPILED.has(name) ? undefined : name
}

/** Groups of the numbers with equal answers to a probe. */
function alikeIn(worlds: ReadonlyMap<number, readonly ProbeRehearsal[]>, index: number): number[][] {
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
