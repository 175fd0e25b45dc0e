import type { VerdictReport } from '../admin/reports.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import type { Contract } from '../contract/contract.ts'
import type { CoverageReport } from '../coverage/report.ts'
import type { AccountState } from '../domain/account.ts'
import type { FaultRule } from '../domain/faults.ts'
import type { Entry } from '../journal/entry.ts'
import type { ServerOptions } from '../start/options.ts'
import { type ServerParts, startServer } from '../start/server.ts'
import { type CommandEnd, runCommand } from './command.ts'
import { environmentFor, type Variable } from './environment.ts'

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
}

/** What became of a trial. */
export interface TrialResult {
  end: CommandEnd
  /** All that was exchanged, in the order of the responses, whatever was cleared or deleted meanwhile. */
  exchanges: readonly Entry[]
  /** How many were exchanged beyond those that are kept. */
  lost: number
  verdict: VerdictReport
  coverage: CoverageReport
  /** The accounts as the command left them, by id. */
  accounts: ReadonlyMap<string, AccountState>
}

/** How many exchanges of a trial are kept. */
const EXCHANGES = 20_000
/** A body of a request has at most so many bytes, whatever the contract says; it is kept whole. */
const BODY = 2 << 20

/** Starts a server, runs the command against it, and stops the server. @throws CommandError, and what a start throws */
export async function runTrial(trial: Trial): Promise<TrialResult> {
  const { name, command, variables, options, contract, plan, timeout, inherits, signal } = trial
  const exchanges: Entry[] = []
  let lost = 0
  let parts: ServerParts | undefined
  const service = await startServer(options, OPERATIONS, {
    contract,
    faults: plan,
    journal: { body: BODY },
    open(opened) {
      parts = opened
      opened.journal.subscribe((entry) => {
        if (exchanges.length < EXCHANGES) exchanges.push(entry)
        else lost++
      })
    },
  })
  try {
    const addresses = {
      baseUrl: service.baseUrl,
      apiKey: service.apiKey ?? '',
      adminUrl: service.adminUrl ?? '',
      port: new URL(service.baseUrl).port,
    }
    const environment = { ...trial.environment, ...environmentFor(addresses, name, variables) }
    const end = await runCommand({ command, environment, timeout, inherits, signal })
    return {
      end,
      exchanges,
      lost,
      verdict: await service.verdict(),
      coverage: await service.coverage(),
      accounts: await readAccounts(parts),
    }
  } finally {
    await service.stop()
  }
}

async function readAccounts(parts: ServerParts | undefined): Promise<Map<string, AccountState>> {
  const accounts = new Map<string, AccountState>()
  if (parts === undefined) return accounts
  const { store } = parts
  for (const id of await store.list()) accounts.set(id, await store.read(id))
  return accounts
}
