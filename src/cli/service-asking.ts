import { rmSync } from 'node:fs'
import type { Choices } from '../contract/choices.ts'
import { systemClock } from '../ground/clock.ts'
import { isLoopback } from '../ground/hosts.ts'
import { hashKey, nameInstance } from '../ground/secrets.ts'
import { quoteWord } from '../ground/shell-word.ts'
import { shorten } from '../ground/show.ts'
import { pause } from '../ground/timers.ts'
import { Judge } from '../judge/judge.ts'
import { readDuration } from '../server/option.ts'
import type { Reserve } from '../verify/budget.ts'
import { describeRest, isAsBefore } from '../verify/cleanup.ts'
import { Client, ConnectionError } from '../verify/client.ts'
import { Holdings, markOf } from '../verify/holdings.ts'
import { digestOf, Ledger, type LedgerContent, LedgerError, readLedger } from '../verify/ledger.ts'
import { planProbes } from '../verify/plan.ts'
import * as running from '../verify/run.ts'
import { inWords, TargetError } from '../verify/target.ts'
import { UsageError } from './errors.ts'
import type { Execution } from './execution.ts'

/** What of a service is asked, and how. */
export interface Asking {
  execution: Execution
  choices: Choices
  baseUrl: string
  apiKey: string
  reserve: Reserve
  allowWrites: boolean
  readOnly: boolean
  wait: boolean
  exhaust: boolean
  soleWriter: boolean
  domainSuffix: string
  timeout: string
  /** The file of the ledger, and the option that names it; by default a new file in the working folder. */
  ledger: string | undefined
  ledgerSource: string | undefined
}

/** Why a service could not be asked, for `catch`; other errors are thrown again. */
export function explainTrouble(baseUrl: string): (error: unknown) => Trouble {
  return (error) => {
    if (error instanceof TargetError) return { reason: error.message, exitCode: 1 }
    if (!(error instanceof ConnectionError)) throw error
    return { reason: `${targetOf(baseUrl)} cannot be reached: ${error.message}`, exitCode: 3 }
  }
}

export interface Trouble {
  reason: string
  exitCode: number
}

export function targetOf(baseUrl: string): string {
  return baseUrl.replace(/\/+$/, '')
}

function clientOf({ baseUrl, timeout }: Asking): Client {
  return new Client(new URL(targetOf(baseUrl)), readDuration(timeout))
}

/** Whether requests that change the account are sent. */
export function mayWrite({
  baseUrl,
  readOnly,
  allowWrites,
}: Pick<Asking, 'readOnly' | 'allowWrites'> & { baseUrl?: string | undefined }): boolean {
  if (readOnly) return false
  return allowWrites || (baseUrl !== undefined && isLoopback(new URL(baseUrl).hostname))
}

/** What a service was asked, and how to remove what is left in its account, if anything may be. */
interface AskedService {
  result: running.VerifyResult
  sweep: string | undefined
}

/** Asks the service everything, shows the progress, and undoes what it did. */
export async function askService(asking: Asking): Promise<AskedService> {
  const { execution, choices, apiKey, reserve, exhaust, wait: waits, soleWriter: isSoleWriter } = asking
  const { signal } = execution
  const { ledger, run } = createLedger(asking)
  const sweep = commandLine(targetOf(asking.baseUrl), ledger.path)
  const holdings = new Holdings(markOf(run))
  const writes = mayWrite(asking)
  const isOwnName = (name: string) => name.toLowerCase().includes(holdings.mark)
  let shown = ''
  signal.addEventListener('abort', () => {
    execution.say(`${execution.name}: restores the account; another signal ends it at once, then ${sweep}`)
  })
  execution.lastWords = () => describeStop(holdings, sweep)
  try {
    const result = await running.verify({
      ...{ client: clientOf(asking), contract: choices.contract, apiKey, holdings, ledger, reserve, waits, sleep },
      ...{ signal, writes, clock: systemClock, suffix: asking.domainSuffix },
      plan: planProbes({ writes, exhaust }),
      judge: new Judge({ choices, isOwnName, isSoleWriter }),
      onProgress(progress) {
        const text = describeProgress(progress)
        // A long wait repeats the same text, and a log needs it only once.
        if (text !== shown) execution.show(text)
        shown = text
      },
    })
    if (!result.cleanup.restored) return { result, sweep }
    ledger.remove()
    return { result, sweep: undefined }
  } catch (error) {
    // The run creates nothing without an intent.
    if (holdings.hasIntents) execution.say(`${execution.name}: to clean up: ${sweep}`)
    else ledger.remove()
    throw error
  }
}

/** Removes what the run of a ledger has left. Resolves to the exit code. @throws UsageError */
export async function sweepTarget(asking: Asking, path: string, source: string): Promise<number> {
  const { execution, choices, apiKey, wait: waits } = asking
  const target = targetOf(asking.baseUrl)
  const content = await openLedger(path, source, { target, digest: digestOf(target, apiKey) })
  const holdings = Holdings.of(content)
  const again = commandLine(target, path)
  execution.lastWords = () => describeStop(holdings, again)
  const cleanup = await running.sweep({
    ...{
      contract: choices.contract,
      client: clientOf(asking),
      apiKey,
      holdings,
      waits,
      sleep,
      reserve: asking.reserve,
    },
    // What is swept up creates nothing.
    ledger: { write: () => {} },
    ...{ signal: execution.signal, clock: systemClock },
  })
  const { removed, restored, gained } = cleanup
  const did = `verify: removed ${removed.domains} domains and ${removed.groups} groups of the run ${content.head.run}`
  if (!restored) {
    execution.say(`${did}; it is not shown that nothing is left: ${shorten(describeRest(cleanup), 2_000)}`)
    return execution.say(`verify: to try again: ${again}`, 1)
  }
  rmSync(path, { force: true })
  if (!isAsBefore(cleanup)) {
    const changes = `another client or the service has changed the rest: ${shorten(describeRest(cleanup), 2_000)}.`
    return execution.say(`${did}; nothing of it is left; ${changes}`, asking.soleWriter ? 1 : 0)
  }
  const others = gained.length === 0 ? '' : ` Others have added meanwhile: ${shorten(gained.join('; '), 1_000)}.`
  return execution.say(`${did}; the account is as before.${others}`, 0)
}

/** What the run has in the account when a second signal ends it, as far as the answers have shown. */
function describeStop({ domains, groups, unknown }: Holdings, sweep: string): string {
  const left = [...domains, ...[...groups.keys()].map((id) => `group ${id}`)]
  const more = unknown === 0 ? '' : `, and what ${unknown} requests may have created`
  const still = left.length === 0 ? 'nothing that is known' : shorten(left.join(', '), 2_000)
  return `verify: ended at once; still there: ${still}${more}; to clean up: ${sweep}`
}

/** @throws UsageError */
function createLedger({ baseUrl, apiKey, ledger, ledgerSource }: Asking): { ledger: Ledger; run: string } {
  const target = targetOf(baseUrl)
  const run = hashKey(nameInstance()).slice(0, 8)
  const path = ledger ?? `understudy-verify-${run}.json`
  try {
    return { run, ledger: new Ledger(path, { run, target, digest: digestOf(target, apiKey) }) }
  } catch (error) {
    throw error instanceof LedgerError ? new UsageError(`${ledgerSource ?? path}: ${error.message}`) : error
  }
}

/** Reads the ledger of an earlier run. @throws UsageError if its target or its account is a different one */
async function openLedger(
  path: string,
  source: string,
  { target, digest }: { target: string; digest: string },
): Promise<LedgerContent> {
  try {
    const content = await readLedger(path)
    const { head } = content
    if (head.digest === digest) return content
    const whose = head.target === target ? 'another key' : `another target, ${shorten(head.target)}`
    throw new LedgerError(`is the ledger of ${whose}`)
  } catch (error) {
    throw error instanceof LedgerError ? new UsageError(`${source}: ${error.message}`) : error
  }
}

/** The command that removes what the run of this ledger has left. */
function commandLine(target: string, path: string): string {
  return `dmarc-understudy verify --sweep ${quoteWord(path)} --base-url ${quoteWord(target)} --api-key "$API_KEY"`
}

/** Also resolves when the signal is aborted. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return pause(milliseconds, undefined, { signal }).catch(() => {})
}

/** The progress of a run in one line, with the most important part first: a terminal may show only 80 columns. */
export function describeProgress({ asked, planned, doing, quotas }: running.VerifyProgress): string {
  const left = quotas.map((quota) => `${quota.path} ${quota.left}`).join(', ')
  const resets = quotas.flatMap(({ resetsIn }) => resetsIn ?? [])
  const reset = resets.length === 0 ? '' : `; reset in ${inWords(Math.min(...resets))}`
  const state = `left: ${left}${reset}`
  // The name of a question is the least informative part; a sentence is the most informative part.
  const parts = doing.includes(' ') ? [doing, state] : [state, doing]
  return `${asked} of ${planned}; ${parts.join('; ')}`
}
