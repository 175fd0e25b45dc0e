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
import type { Journal } from '../journal/journal.ts'
import { redactorForAll } from '../journal/redaction/redaction.ts'
import { reportVerdict } from '../journal/verdict-report.ts'
import type { ServerOptions } from '../server/options.ts'
import { startServer, type Understudy } from '../server/server.ts'
import type { InternalOptions, StandIn } from '../server/stand-in.ts'
import type { Service } from '../service/answer.ts'
import { type CommandRun, runCommand } from './command.ts'
import { type EnvironmentVariable, environmentFor } from './environment.ts'
import type { CommandEnd } from './running-command.ts'

/** A run of the command of the user against its own server. */
export interface Trial extends Omit<CommandRun, 'patience' | 'started'>, Served {
  /** Runs the command in place of `runCommand`. Tests have clients in their own process. */
  carryOut?: ((run: CommandRun) => Promise<CommandEnd>) | undefined
}

/** A server for one run of commands of the user. */
interface Served<End = CommandEnd> extends Pick<CommandRun, 'signal'> {
  /** The name of the trial. The command gets it in UNDERSTUDY_TRIAL. */
  name: string
  /** The environment of this process. The variables of the trial are added to it. */
  environment: NodeJS.ProcessEnv
  variables: readonly EnvironmentVariable[]
  options: ServerOptions
  /** Replaces the contract from the options. */
  contract?: Contract | undefined
  /** Fault rules for every account. */
  plan?: readonly FaultRule[] | undefined
  /** Whether the caller does not need the exchanges and the accounts. Then only a summary of each request is kept. */
  onlyJudges?: boolean | undefined
  /** Called when the server answers, before the command starts. */
  serving?(service: Understudy): void
  /**
   * Called with the result while the server still answers. Without it, the result has no addresses of requests, because
   * nobody can open them any more.
   */
  served?(result: TrialResult<End>): Promise<void>
  /** See `InternalOptions`. */
  turnstile?: InternalOptions['turnstile']
  /**
   * How long each 429 is held back, in milliseconds. Requests that the client has sent at the same time arrive meanwhile,
   * so they are told from those that it sends although it knows the 429.
   */
  refusalDelay?: number | undefined
}

/** A request for a report, without keys. */
type AskedRequest = Pick<Entry, 'method' | 'path' | 'status'>

/** The result of a trial. */
export interface TrialResult<End = CommandEnd> {
  end: End
  /** The contract that was checked. */
  contract: ServiceContract
  /** All exchanges in the order of the responses, including those that the command cleared or deleted. */
  exchanges: readonly Entry[]
  /** When the answer of each exchange was ready, in milliseconds of real time. */
  ended: readonly number[]
  /** How many exchanges were not kept. */
  lost: number
  /** The requests by their ids, with `onlyJudges`. */
  asked: ReadonlyMap<string, AskedRequest>
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
export function runTrial(trial: Trial): Promise<TrialResult> {
  const { carryOut = runCommand } = trial
  return serveTrial(trial, async (service, { journal }) => {
    const end = await carryOut({ ...trial, environment: environmentIn(trial, service, service.apiKey) })
    return withoutKeys(end, journal)
  })
}

/** The output may have keys of accounts that the command itself has made. Only the server knows them. */
export function withoutKeys(end: CommandEnd, { secrets }: Pick<Journal, 'secrets'>): CommandEnd {
  return { ...end, output: redactorForAll(secrets)(end.output) }
}

/** The environment of a command that uses this key of the service. */
export function environmentIn(
  { environment, name, variables, served }: Pick<Trial, 'environment' | 'name' | 'variables' | 'served'>,
  { baseUrl, adminUrl = '' }: Understudy,
  apiKey = '',
): NodeJS.ProcessEnv {
  const addresses = { baseUrl, apiKey, adminUrl, port: new URL(baseUrl).port }
  const kept = { UNDERSTUDY_KEPT: served && 'true' }
  return { ...environment, ...kept, ...environmentFor(addresses, name, variables) }
}

/** Starts a server, runs something against it, and stops the server. @throws errors of both */
export async function serveTrial<End>(
  trial: Served<End>,
  run: (service: Understudy, parts: StandIn) => Promise<End>,
): Promise<TrialResult<End>> {
  const { options, contract, plan, signal, onlyJudges, refusalDelay = 0 } = trial
  const holdRefusals = (answer: Service): Service => holdLimited(answer, refusalDelay, () => inside.parts)
  const turnstile = refusalDelay > 0 ? holdRefusals : trial.turnstile
  const exchanges: Entry[] = []
  const ended: number[] = []
  const asked = new Map<string, AskedRequest>()
  let lost = 0
  const inside: { parts?: StandIn } = {}
  signal?.throwIfAborted()
  const service = await startServer(options, OPERATIONS, {
    contract,
    faults: plan,
    ...(turnstile && { turnstile }),
    ...(!onlyJudges && { journal: { body: BODY } }),
    open(parts) {
      const { journal } = parts
      inside.parts = parts
      journal.subscribe((entry) => {
        if (onlyJudges) {
          const { requestId, method, path, status } = entry
          if (asked.size < EXCHANGES) asked.set(requestId, { method, path, status })
          return
        }
        if (exchanges.length >= EXCHANGES) {
          lost++
          return
        }
        exchanges.push(entry)
        ended.push(elapsed())
      })
    },
  })
  const { parts } = inside
  try {
    // A server calls `open` when it starts.
    if (parts === undefined) throw new Error('The server has not told its parts.')
    trial.serving?.(service)
    // A signal may have arrived during the start of the server.
    signal?.throwIfAborted()
    const end = await run(service, parts)
    // The server processes the last requests of the command, of which nobody awaits the answer.
    for (let turn = 0; turn < TURNS; turn++) await nextTurn()
    const result = {
      end,
      contract: service.contract,
      exchanges,
      ended,
      lost,
      asked,
      // All requests since the start, even if the command has cleared, reset or deleted their accounts.
      verdict: await verdictOf(parts, trial.served !== undefined),
      coverage: reportCoverage(await parts.exchanges.totals()),
      accounts: onlyJudges ? new Map<string, AccountState>() : await readAccounts(parts),
    }
    await trial.served?.(result)
    return result
  } finally {
    await service.stop()
  }
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

async function readAccounts({ store }: StandIn): Promise<Map<string, AccountState>> {
  const accounts = new Map<string, AccountState>()
  for (const id of await store.list()) accounts.set(id, (await store.read(id)).state)
  return accounts
}
