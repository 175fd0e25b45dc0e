import type { ServiceContract } from '../behaviour/operation.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import type { Contract } from '../contract/contract.ts'
import type { VerdictReport } from '../contract/control-plane.ts'
import { type CoverageReport, reportCoverage } from '../coverage/report.ts'
import type { AccountState } from '../domain/account.ts'
import type { FaultRule } from '../domain/faults.ts'
import { elapsed } from '../ground/clock.ts'
import { nextTurn } from '../ground/timers.ts'
import type { Entry } from '../journal/entry.ts'
import { redactorForAll } from '../journal/redaction/redaction.ts'
import { reportVerdict } from '../journal/verdict-report.ts'
import type { ServerOptions } from '../server/options.ts'
import { type RunningServer, startServer } from '../server/server.ts'
import type { InternalOptions, StandIn } from '../server/stand-in.ts'
import type { Service } from '../service/answer.ts'
import { type CommandEnd, type CommandRun, runCommand } from './command.ts'
import { type EnvironmentVariable, environmentFor } from './environment.ts'

/** A run of the command of the user against its own server. */
export interface Trial extends Omit<CommandRun, 'patience'> {
  /** The name of the trial. The command gets it in UNDERSTUDY_TRIAL. */
  name: string
  variables: readonly EnvironmentVariable[]
  options: ServerOptions
  /** Replaces the contract from the options. */
  contract?: Contract | undefined
  /** Fault rules for every account. */
  plan?: readonly FaultRule[] | undefined
  /** Whether the caller does not need the exchanges and the accounts. Then only a summary of each request is kept. */
  onlyJudges?: boolean | undefined
  /**
   * How long each 429 is held back, in milliseconds. Requests that the client has sent at the same time arrive meanwhile,
   * so they are told from those that it sends although it knows the 429.
   */
  refusalDelay?: number | undefined
  /** Called when the server answers, before the command starts. */
  serving?(service: RunningServer): void
  /** Called before each request until it resolves to `true`: what comes before the first request of the command. */
  before?: ((parts: StandIn) => Promise<boolean>) | undefined
  /**
   * Called with the result while the server still answers. Without it, the result has no addresses of requests, because
   * nobody can open them any more.
   */
  served?: ((result: TrialResult) => Promise<void>) | undefined
  /** Runs the command in place of `runCommand`. Tests have clients in their own process. */
  carryOut?: ((run: CommandRun) => Promise<CommandEnd>) | undefined
}

/** The result of a trial. */
export interface TrialResult {
  end: CommandEnd
  /** The contract that was checked. */
  contract: ServiceContract
  /** All exchanges in the order of the responses, including those that the command cleared or deleted. */
  exchanges: readonly Entry[]
  /** When the answer of each exchange was ready, in milliseconds of real time. */
  ended: readonly number[]
  /** How many exchanges were not kept. */
  lost: number
  /** The requests by their ids, without keys, with `onlyJudges`. */
  asked: ReadonlyMap<string, Pick<Entry, 'method' | 'path' | 'status'>>
  verdict: VerdictReport
  coverage: CoverageReport
  /** The accounts after the command, by id. */
  accounts: ReadonlyMap<string, AccountState>
}

/** How many exchanges of a trial are kept. */
const EXCHANGES = 20_000
/** The size limit of a request body in bytes, independent of the contract. The body is kept in full. */
const BODY = 2 << 20
/** In turns of the event loop: one to read the data that has arrived, and some to process it. */
const TURNS = 5

/** Starts a server, runs the command against it, and stops the server. @throws CommandError, errors of the start */
export async function runTrial(trial: Trial): Promise<TrialResult> {
  const { signal, carryOut = runCommand } = trial
  signal?.throwIfAborted()
  const exchanges = new ExchangeList(trial.onlyJudges === true)
  const { service, parts } = await startFor(trial, exchanges)
  try {
    trial.serving?.(service)
    // A signal may have arrived during the start of the server.
    signal?.throwIfAborted()
    const end = await carryOut({ ...trial, environment: environmentIn(trial, service) })
    // The server processes the last requests of the command, of which nobody awaits the answer.
    for (let turn = 0; turn < TURNS; turn++) await nextTurn()
    const result: TrialResult = {
      // The output may have keys of accounts that the command itself has made. Only the server knows them.
      end: { ...end, output: redactorForAll(parts.journal.secrets)(end.output) },
      contract: service.contract,
      ...{ exchanges: exchanges.kept, ended: exchanges.ended, lost: exchanges.lost, asked: exchanges.asked },
      // All requests since the start, even if the command has cleared, reset or deleted their accounts.
      verdict: await verdictOf(parts, trial.served !== undefined),
      coverage: reportCoverage(await parts.exchanges.totals()),
      accounts: trial.onlyJudges ? new Map<string, AccountState>() : await readAccounts(parts),
    }
    await trial.served?.(result)
    return result
  } finally {
    await service.stop()
  }
}

async function startFor(
  { options, contract, plan, onlyJudges, refusalDelay = 0, before }: Trial,
  exchanges: ExchangeList,
): Promise<{ service: RunningServer; parts: StandIn }> {
  let opened: StandIn | undefined
  const partsOf = () => opened
  const internal: InternalOptions = {
    contract,
    faults: plan,
    ...((refusalDelay > 0 || before) && {
      turnstile: (answer) => precede(holdLimited(answer, refusalDelay, partsOf), before, partsOf),
    }),
    ...(!onlyJudges && { journal: { body: BODY } }),
    open(parts) {
      opened = parts
      parts.journal.subscribe((entry) => exchanges.take(entry))
    },
  }
  const service = await startServer(options, OPERATIONS, internal)
  if (opened === undefined) throw new Error('The server has not told its parts.')
  return { service, parts: opened }
}

/** The exchanges of a trial, or only what identifies them. */
class ExchangeList {
  readonly #isBrief: boolean
  readonly kept: Entry[] = []
  readonly ended: number[] = []
  readonly asked = new Map<string, Pick<Entry, 'method' | 'path' | 'status'>>()
  lost = 0

  constructor(isBrief: boolean) {
    this.#isBrief = isBrief
  }

  take(entry: Entry): void {
    const { requestId, method, path, status } = entry
    if (this.#isBrief) {
      if (this.asked.size < EXCHANGES) this.asked.set(requestId, { method, path, status })
    } else if (this.kept.length >= EXCHANGES) {
      this.lost++
    } else {
      this.kept.push(entry)
      this.ended.push(elapsed())
    }
  }
}

/** The environment of the command, with the variables of the trial. */
function environmentIn(
  { environment, name, variables, served }: Trial,
  { baseUrl, adminUrl = '', apiKey = '' }: RunningServer,
): NodeJS.ProcessEnv {
  const addresses = { baseUrl, apiKey, adminUrl, port: new URL(baseUrl).port }
  const kept = { UNDERSTUDY_KEPT: served && 'true' }
  return { ...environment, ...kept, ...environmentFor(addresses, name, variables) }
}

async function verdictOf({ exchanges }: StandIn, hasPages: boolean): Promise<VerdictReport> {
  const verdict = await reportVerdict(await exchanges.wholeVerdict())
  if (!hasPages) for (const example of verdict.violations.first) example.page = null
  return verdict
}

/** Holds each answer that says that a quota is used up for so many milliseconds, or until the server stops. */
function holdLimited(answer: Service, milliseconds: number, partsOf: () => StandIn | undefined): Service {
  return async (arrival) => {
    const delivery = await answer(arrival)
    const parts = partsOf()
    if (delivery === undefined || parts === undefined || !('status' in delivery)) return delivery
    const { status } = parts.contract.catalogue.answer({ code: 'rate_limited' })
    if (delivery.status === status) await arrival.wait(milliseconds, parts.stopping.signal)
    return delivery
  }
}

/** Lets something come before the first request. */
function precede(answer: Service, before: Trial['before'], partsOf: () => StandIn | undefined): Service {
  let isDone = before === undefined
  return async (arrival) => {
    const parts = partsOf()
    if (!isDone && parts !== undefined) isDone = (await before?.(parts)) ?? true
    return answer(arrival)
  }
}

async function readAccounts({ store }: StandIn): Promise<Map<string, AccountState>> {
  const accounts = new Map<string, AccountState>()
  for (const id of await store.list()) accounts.set(id, (await store.read(id)).state)
  return accounts
}
