import type { VerdictReport } from '../admin/reports.ts'
import { reportVerdict } from '../admin/verdict.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import type { Contract } from '../contract/contract.ts'
import { type CoverageReport, reportCoverage } from '../coverage/report.ts'
import type { AccountState } from '../domain/account.ts'
import type { FaultRule } from '../domain/faults.ts'
import { elapsed } from '../ground/clock.ts'
import type { Entry } from '../journal/entry.ts'
import type { ServerOptions } from '../start/options.ts'
import { type ServerParts, startServer, type Understudy } from '../start/server.ts'
import { type CommandEnd, type CommandRun, runCommand } from './command.ts'
import { type Addresses, environmentFor, type Variable } from './environment.ts'

/** A run of the user's command against a server of its own. */
export interface Trial {
  /** Names it; the command reads it in UNDERSTUDY_TRIAL. */
  name: string
  command: readonly string[]
  /** The environment of this process, to which that of the trial is added. */
  environment: NodeJS.ProcessEnv
  variables: readonly Variable[]
  options: ServerOptions
  /** In place of the contract that the options make. */
  contract?: Contract | undefined
  /** Fault rules of every account. */
  plan?: readonly FaultRule[] | undefined
  /** In milliseconds. */
  timeout?: number | undefined
  inherits: boolean
  signal?: AbortSignal | undefined
  /** See `CommandRun`. */
  onSignal?: CommandRun['onSignal']
  waiting?: CommandRun['waiting']
  /** Whether nobody asks for the exchanges and the accounts, so that nothing is kept for them. */
  onlyJudges?: boolean | undefined
  /** Is called when the server answers, before the command starts. */
  serving?(service: Understudy, addresses: Addresses): void | Promise<void>
}

/** What became of a trial. */
export interface TrialResult {
  end: CommandEnd
  /** What every request was held to. */
  contract: ServiceContract
  /** All that was exchanged, in the order of the responses, whatever was cleared or deleted meanwhile. */
  exchanges: readonly Entry[]
  /** When each of them ended, in milliseconds of real time. */
  ended: readonly number[]
  /** How many were exchanged beyond those that are kept. */
  lost: number
  verdict: VerdictReport
  coverage: CoverageReport
  /** The accounts as the command left them, by id. */
  accounts: ReadonlyMap<string, AccountState>
}

/** How many exchanges of a trial are kept. */
export const EXCHANGES = 20_000
/** A body of a request has at most so many bytes, whatever the contract says; it is kept whole. */
const BODY = 2 << 20

/** In turns of the event loop: one to read what has arrived, and some to deal with it. */
const TURNS = 5

/** Starts a server, runs the command against it, and stops the server. @throws CommandError, and what a start throws */
export async function runTrial(trial: Trial): Promise<TrialResult> {
  const { name, command, variables, options, contract, plan, timeout, inherits, signal, onSignal, onlyJudges } = trial
  const exchanges: Entry[] = []
  const ended: number[] = []
  let lost = 0
  const inside: { parts?: ServerParts } = {}
  signal?.throwIfAborted()
  const service = await startServer(options, OPERATIONS, {
    contract,
    faults: plan,
    ...(!onlyJudges && { journal: { body: BODY } }),
    open(parts) {
      inside.parts = parts
      if (onlyJudges) return
      parts.journal.subscribe((entry) => {
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
    // A server that has started has called `open`.
    if (parts === undefined) throw new Error('The server has not told its parts.')
    const addresses = addressesOf(service)
    const environment = { ...trial.environment, ...environmentFor(addresses, name, variables) }
    await trial.serving?.(service, addresses)
    // Who waits for the server may have been told to stop.
    signal?.throwIfAborted()
    const end = await runCommand({ command, environment, timeout, inherits, signal, onSignal, waiting: trial.waiting })
    await receiveRest()
    return {
      end,
      contract: service.contract,
      exchanges,
      ended,
      lost,
      // All that came since the start, whatever the command has cleared, reset or deleted.
      verdict: await reportVerdict(await parts.exchanges.wholeVerdict()),
      coverage: reportCoverage(await parts.exchanges.totals()),
      accounts: onlyJudges ? new Map() : await readAccounts(parts),
    }
  } finally {
    await service.stop()
  }
}

/** What the command may be told of the server. */
function addressesOf({ baseUrl, apiKey = '', adminUrl = '' }: Understudy): Addresses {
  return { baseUrl, apiKey, adminUrl, port: new URL(baseUrl).port }
}

/** Lets the server deal with what the command has sent last, without waiting for an answer. */
async function receiveRest(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function readAccounts({ store }: ServerParts): Promise<Map<string, AccountState>> {
  const accounts = new Map<string, AccountState>()
  for (const id of await store.list()) accounts.set(id, await store.read(id))
  return accounts
}
