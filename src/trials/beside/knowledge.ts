import { answerUnder } from '../../behaviour/counterfactual.ts'
import type { ServiceContract } from '../../behaviour/operation.ts'
import type { AccountState } from '../../domain/account.ts'
import { askedAgain } from '../../explain/decisive-settings.ts'
import { bytesOf, type Entry, PAST } from '../../journal/entry.ts'
import { effectsOf } from '../explore/effects.ts'
import type { Step } from './conductor.ts'
import { type CommandSide, Course, otherSide, type Schedule, SIDES, type Strand } from './schedule.ts'

/** A request of a command, in words that are the same in every run. */
interface NextRequest {
  entry: Entry
  label: string
}

/** A command after some of its requests, as far as it is known. Two runs share it if all answers were the same. */
interface CommandState {
  readonly key: string
  /** By thread: the number of its requests and answers so far. */
  readonly threads: ReadonlyMap<number, number>
  /** By thread: its next request; `undefined` if it is known that there is one, but not which. */
  asks?: Map<number, NextRequest | undefined>
  hasEnded?: boolean
}

/** Both commands and the account at one moment. Two runs share it if they cannot differ from there on. */
interface PairWorld {
  readonly key: string
  /** What is compared at the end of a run, where the order in lists has no meaning any more. */
  readonly end: string
  readonly commands: readonly [CommandState, CommandState]
  readonly account: AccountState
  readonly names: GroupNames
  /** By side and thread. */
  readonly next: Map<string, PairWorld>
  /** Whether both commands repeat requests for ever, whatever their order: none of them changes anything. */
  isHopeless?: boolean
}

/** Names for the ids of new groups, by id: an id says in which order groups were created, and its name does not. */
type GroupNames = ReadonlyMap<string, string>

interface JudgedAnswer {
  /** The data of a success, or the problem, as JSON. */
  content: string
  code: string | undefined
  after: AccountState
}

/** A request of a predicted run, and the threads of its command that had a request at the door. */
export type PredictedStep = Pick<Step, 'strand' | 'threads'>

/** What is known of a run without the run. */
export interface OrderPrediction {
  steps: readonly PredictedStep[]
  /** The end of both commands and the account; absent if the run goes where no run was. */
  end: string | undefined
  /** From there on, nothing is known. Two runs with the same unknown are the same run. */
  unknown: string
}

/** The most worlds that are kept. With more of them, orders are run that a prediction could save. */
const WORLDS = 50_000

/**
 * What the runs have shown of two commands: the next request of each after each sequence of answers. With it and the
 * judge of the stand-in, an order of requests is played through without the commands, as long as they get only answers
 * that they have got before. Two orders are the same run if they end in the same world, for example because they differ
 * only in requests that commute.
 *
 * It relies on commands that send the same requests after the same answers. `isReliable` becomes false when a run shows
 * that they do not, or that something else changes the account.
 */
export class PairKnowledge {
  isReliable = true
  readonly #numbers = new Map<string, number>()
  readonly #commands = new Map<string, CommandState>()
  readonly #worlds = new Map<string, PairWorld>()
  readonly #contents = new WeakMap<AccountState, string>()
  /** Which command has succeeded, by the end of the world. */
  readonly #successes = new Map<string, string>()
  readonly #contract: ServiceContract
  #root: PairWorld | undefined

  constructor(contract: ServiceContract) {
    this.#contract = contract
  }

  /**
   * Learns from a run, and returns the world at its end. A run without `successes` was ended because both commands
   * repeated requests that change nothing; the steps are those until the last change.
   */
  learn(steps: readonly Step[], successes: readonly [boolean, boolean] | undefined): string {
    const [first] = steps
    const origin = first?.entry[PAST]?.account
    if (first === undefined || origin === undefined) return this.#distrust()
    this.#root ??= this.#world([this.#command(0, new Map()), this.#command(1, new Map())], origin, new Map())
    let world = this.#root
    let names: GroupNames = new Map()
    for (const step of steps) {
      const { strand, entry } = step
      const account = entry[PAST]?.account ?? world.account
      if (this.#describe(account, names) !== this.#describe(world.account, world.names)) return this.#distrust()
      const ask = { entry, label: labelOf(entry, names) }
      // A quota counts in real time, and its use is no part of a world.
      if (entry.problems[0]?.code === 'rate_limited') return this.#distrust()
      const answer = this.#answer(entry, account)
      if (answer?.code !== entry.code || !this.#note(world.commands[strand.side], step, ask)) return this.#distrust()
      const after = entry[PAST]?.after ?? account
      const next = this.#follow(world, strand, ask, answer?.content ?? '', { before: account, after, names })
      names = next.names
      world = next.world
    }
    if (successes === undefined) {
      world.isHopeless = true
      return world.end
    }
    for (const side of SIDES) {
      const command = world.commands[side]
      if (command.asks !== undefined) return this.#distrust()
      command.hasEnded = true
    }
    const known = this.#successes.get(world.end) ?? `${successes}`
    if (known !== `${successes}`) return this.#distrust()
    this.#successes.set(world.end, known)
    return world.end
  }

  /** Plays a schedule through, as far as it is known. */
  predict(schedule: Schedule): OrderPrediction {
    const steps: PredictedStep[] = []
    const course = new Course(schedule)
    let world = this.isReliable ? this.#root : undefined
    if (world === undefined) return { steps, end: undefined, unknown: JSON.stringify(schedule) }
    for (;;) {
      if (world.isHopeless) return { steps, end: world.end, unknown: '' }
      const { side } = course
      const { asks, hasEnded } = world.commands[side]
      if (hasEnded) {
        if (world.commands[otherSide(side)].hasEnded) return { steps, end: world.end, unknown: '' }
        course.passOver()
        continue
      }
      const rest = course.isFree ? '' : JSON.stringify(schedule.slice(steps.length))
      if (asks === undefined) return { steps, end: undefined, unknown: `${world.key} ${side} ${rest}` }
      const threads = [...asks.keys()].toSorted((one, other) => one - other)
      const strand = course.take(threads)
      const next = this.#next(world, strand, asks.get(strand.thread))
      if (next === undefined) return { steps, end: undefined, unknown: `${world.key} ${side} ${rest}` }
      steps.push({ strand, threads })
      world = next
    }
  }

  #distrust(): string {
    this.isReliable = false
    return ''
  }

  /** Notes the next requests of a command. Returns `false` if they were others before. */
  #note(command: CommandState, { strand, threads }: Step, ask: NextRequest): boolean {
    command.asks ??= new Map(threads.map((thread) => [thread, undefined]))
    const { asks } = command
    if (command.hasEnded || asks.size !== threads.length || !threads.every((thread) => asks.has(thread))) return false
    const known = asks.get(strand.thread)
    if (known === undefined) asks.set(strand.thread, ask)
    return known === undefined || known.label === ask.label
  }

  /** The world after a request that is known. */
  #next(world: PairWorld, strand: Required<Strand>, ask: NextRequest | undefined): PairWorld | undefined {
    const known = world.next.get(nameOf(strand))
    if (known !== undefined || ask === undefined || this.#worlds.size >= WORLDS) return known
    const answer = this.#answer(inWorld(ask, world.names), world.account)
    if (answer === undefined) return undefined
    const { account: before, names } = world
    return this.#follow(world, strand, ask, answer.content, { before, after: answer.after, names }).world
  }

  /** The world after a request, and the names of the groups after it. */
  #follow(
    world: PairWorld,
    strand: Required<Strand>,
    { label }: NextRequest,
    answered: string,
    { before, after, names: former }: { before: AccountState; after: AccountState; names: GroupNames },
  ): { world: PairWorld; names: GroupNames } {
    const { side, thread } = strand
    const { threads } = world.commands[side]
    const created = `⟨${this.#number(`${nameOf(strand)} ${threads.get(thread) ?? 0} ${label}`)}⟩`
    const names = nameCreated(before, after, former, created)
    // A client may take the first or the last one of a list, so its order belongs to the answer.
    const history = this.#number(`${threads.get(thread) ?? 0} ${label} → ${rename(answered, names)}`)
    const command = this.#command(side, new Map(threads).set(thread, history))
    const commands = world.commands.with(side, command) as unknown as PairWorld['commands']
    const next = this.#world(commands, after, names)
    world.next.set(nameOf(strand), next)
    return { world: next, names }
  }

  /** What the service answers, in words; `undefined` if nobody can know it. */
  #answer(entry: Entry, account: AccountState): JudgedAnswer | undefined {
    const { operation, injected, failure, [PAST]: past, code, status, problems } = entry
    if (injected || failure !== undefined) return undefined
    if (operation === undefined || past === undefined || problems[0]?.code === 'unauthorized') {
      return { content: JSON.stringify([status, code]), code, after: account }
    }
    const answer = answerUnder(askedAgain(entry, account), this.#contract)
    const [problem] = answer.problems
    const content = JSON.stringify(problem ?? answer.data)
    return { content, code: problem?.code, after: answer.state }
  }

  #world(commands: PairWorld['commands'], account: AccountState, names: GroupNames): PairWorld {
    const histories = `${commands[0].key} | ${commands[1].key}`
    const key = `${histories} | ${this.#describe(account, names)}`
    const known = this.#worlds.get(key)
    if (known !== undefined) return known
    const end = `${histories} | ${this.#number(this.#meaningOf(account, names))}`
    const world: PairWorld = { key, end, commands, account, names, next: new Map() }
    this.#worlds.set(key, world)
    return world
  }

  #command(side: CommandSide, threads: ReadonlyMap<number, number>): CommandState {
    const key = `${side}: ${[...threads].toSorted(([one], [other]) => one - other).join(' ')}`
    const known = this.#commands.get(key) ?? { key, threads }
    this.#commands.set(key, known)
    return known
  }

  /** All of an account that later answers can show, as a number: its meaning, the order in lists, and its clock. */
  #describe(account: AccountState, names: GroupNames): number {
    const { domains, groups, clock } = account
    const lists = [[...domains.keys()], [...groups.values()].map(({ name, domains }) => [name, domains]), clock]
    return this.#number(`${this.#meaningOf(account, names)} ${JSON.stringify(lists)}`)
  }

  #meaningOf(account: AccountState, names: GroupNames): string {
    const content = this.#contents.get(account) ?? JSON.stringify(effectsOf([account], []).accounts)
    this.#contents.set(account, content)
    const groups = [...account.groups.values()].map(({ id, name }) => `${names.get(id) ?? id} ${name}`).toSorted()
    return `${content} ${groups.join(', ')}`
  }

  /** The same number for the same text. */
  #number(text: string): number {
    const number = this.#numbers.get(text) ?? this.#numbers.size + 1
    this.#numbers.set(text, number)
    return number
  }
}

function nameOf({ side, thread }: Required<Strand>): string {
  return `${side}/${thread}`
}

function labelOf({ method, target, body }: Entry, names: GroupNames): string {
  return rename(`${method} ${target} ${body === undefined ? '' : bytesOf(body)}`, names)
}

function rename(text: string, names: GroupNames): string {
  let renamed = text
  for (const [id, name] of names) renamed = renamed.replaceAll(id, name)
  return renamed
}

/** The names of groups with that of a new one. */
function nameCreated(before: AccountState, after: AccountState, names: GroupNames, name: string): GroupNames {
  if (after.groups === before.groups) return names
  const created = [...after.groups.keys()].filter((id) => !before.groups.has(id))
  return created.length === 0 ? names : new Map([...names, ...created.map((id) => [id, name] as const)])
}

/** The request as its command sends it where the groups have other ids. */
function inWorld({ entry, label }: NextRequest, names: GroupNames): Entry {
  if (!label.includes('⟨')) return entry
  const restored = rename(label, new Map([...names].map(([id, name]) => [name, id])))
  const [, target = '', body = ''] = /^\S+ (\S+) (.*)$/s.exec(restored) ?? []
  return { ...entry, target, body: entry.body && { text: body, size: Buffer.byteLength(body) } }
}
