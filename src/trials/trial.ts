import type { ServiceContract } from '../behaviour/operation.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import type { Contract } from '../contract/contract.ts'
import type { VerdictReport } from '../contract/control-plane.ts'
import { type CoverageReport, reportCoverage } from '../coverage/report.ts'
import type { AccountState } from '../domain/account.ts'
import type { FaultRule } from '../domain/faults.ts'
import { elapsed, nextTurn } from '../ground/timers.ts'
import type { Entry } from '../journal/entry.ts'
import { redactorForAll } from '../journal/redaction/redaction.ts'
import { reportVerdict } from '../journal/verdict-report.ts'
import type { ServerOptions } from '../server/options.ts'
import { type RunningServer, startServer } from '../server/server.ts'
import type { StandIn } from '../server/stand-in.ts'
import { type CommandEnd, type CommandRun, runCommand } from './command.ts'

/** A variable for the command. Its value may contain placeholders such as `{baseUrl}`. */
export interface EnvironmentVariable {
  name: string
  template: string
}

/** A run of the command of the user against its own server. */
export interface Trial extends Omit<CommandRun, 'patience'> {
  /** The name of the trial. The command gets it in UNDERSTUDY_TRIAL. */
  name: string
  variables: readonly EnvironmentVariable[]
  options: ServerOptions
  /** Replaces the contract from the options. */
  contract?: Contract | undefined
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
  served?: ((result: TrialResult, service: RunningServer) => Promise<void>) | undefined
  /** Runs the command in place of `runCommand`. Tests have clients in their own process. */
  carryOut?: ((run: CommandRun) => Promise<CommandEnd>) | undefined
}

export interface TrialResult {
  end: CommandEnd
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
  accounts: ReadonlyMap<string, AccountState>
}

const EXCHANGES = 20_000
/** The size limit of a request body in bytes, independent of the contract. The body is kept in full. */
const BODY = 2 << 20
/** In turns of the event loop: one to read the data that has arrived, and some to process it. */
const TURNS = 5

/** Starts a server, runs the command against it, and stops the server. @throws CommandError, errors of the start */
export async function runTrial(trial: Trial): Promise<TrialResult> {
  const { signal, onlyJudges = false, refusalDelay = 0, before, carryOut = runCommand } = trial
  signal?.throwIfAborted()
  const exchanges: Entry[] = []
  const ended: number[] = []
  const asked = new Map<string, Pick<Entry, 'method' | 'path' | 'status'>>()
  let lost = 0
  let isBegun = before === undefined
  let opened: StandIn | undefined
  function keep(entry: Entry): void {
    const { requestId, method, path, status } = entry
    if (exchanges.length + asked.size >= EXCHANGES) lost++
    else if (onlyJudges) asked.set(requestId, { method, path, status })
    else ended[exchanges.push(entry) - 1] = elapsed()
  }
  const service = await startServer(trial.options, OPERATIONS, {
    ...{ contract: trial.contract, faults: trial.plan },
    ...(!onlyJudges && { journal: { body: BODY } }),
    ...((refusalDelay > 0 || before) && {
      wrapService: (answer) => async (arrival) => {
        const { contract, stopping } = opened as StandIn
        if (!isBegun) isBegun = (await before?.(opened as StandIn)) ?? true
        const delivery = await answer(arrival)
        const limited = contract.catalogue.answer({ code: 'rate_limited' }).status
        if (delivery && 'status' in delivery && delivery.status === limited) {
          await arrival.wait(refusalDelay, stopping.signal)
        }
        return delivery
      },
    }),
    open(parts) {
      opened = parts
      parts.journal.subscribe(keep)
    },
  })
  const parts = opened as unknown as StandIn
  try {
    trial.serving?.(service)
    // A signal may have arrived during the start of the server.
    signal?.throwIfAborted()
    const end = await carryOut({ ...trial, environment: environmentIn(trial, service) })
    // The server processes the last requests of the command, of which nobody awaits the answer.
    for (let turn = 0; turn < TURNS; turn++) await nextTurn()
    // All requests since the start count, even if the command has cleared, reset or deleted their accounts.
    const verdict = await reportVerdict(await parts.exchanges.wholeVerdict(), async (violation) => {
      const { explainViolation } = await import('../admin/explanation.ts')
      return explainViolation(violation, { ...parts, urls: () => parts.urls })
    })
    if (trial.served === undefined) for (const example of verdict.violations.first) example.page = null
    const accounts = new Map<string, AccountState>()
    for (const id of onlyJudges ? [] : await parts.store.list()) accounts.set(id, (await parts.store.read(id)).state)
    const result: TrialResult = {
      // The output may have keys of accounts that the command itself has made. Only the server knows them.
      end: { ...end, output: redactorForAll(parts.journal.secrets)(end.output) },
      ...{ contract: service.contract, exchanges, ended, lost, asked, verdict, accounts },
      coverage: reportCoverage(await parts.exchanges.totals()),
    }
    await trial.served?.(result, service)
    return result
  } finally {
    await service.stop()
  }
}

/** The names that a template can use in braces. */
export const PLACEHOLDERS = ['baseUrl', 'apiKey', 'adminUrl', 'port'] as const

const PLACEHOLDER = /\{(\w+)\}/g

export function isTemplate(text: string): boolean {
  return [...text.matchAll(PLACEHOLDER)].every(([, name]) => PLACEHOLDERS.some((known) => known === name))
}

/**
 * The environment of the command, with the variables of the trial. One without a value is `undefined`, which hides the
 * outer variable: that may belong to another server.
 */
function environmentIn(
  { environment, name, variables, served }: Trial,
  { baseUrl, adminUrl = '', apiKey = '' }: RunningServer,
): NodeJS.ProcessEnv {
  const values: Readonly<Record<string, string>> = { baseUrl, apiKey, adminUrl, port: new URL(baseUrl).port }
  const fill = (template: string) =>
    template.replaceAll(PLACEHOLDER, (whole, placeholder: string) => values[placeholder] ?? whole)
  return {
    ...environment,
    UNDERSTUDY_KEPT: served && 'true',
    UNDERSTUDY_BASE_URL: baseUrl,
    UNDERSTUDY_API_KEY: apiKey || undefined,
    UNDERSTUDY_ADMIN_URL: adminUrl || undefined,
    UNDERSTUDY_TRIAL: name,
    ...Object.fromEntries(variables.map((each) => [each.name, fill(each.template)])),
  }
}
