import type { Exchange } from '../../src/exchanges/exchange.ts'
import { isFailure, type JudgedDifference, partyOf } from '../../src/judge/finding.ts'
import { type Conclusion, Judge } from '../../src/judge/judge.ts'
import { assess } from '../../src/verify/checks.ts'
import { TargetError } from '../../src/verify/target.ts'
import { choices } from '../support/choices.ts'
import { NO_LEDGER, prepareRun, type Way } from '../verify/runs.ts'
import { listen, type Trouble } from './listener.ts'
import { BEGIN, KEY } from './playing.ts'
import type { IndependentService } from './service.ts'

/* The only file that knows how the tools are called. */

/** What `check` and `proxy` say about these exchanges. */
export async function check(
  exchanges: readonly Exchange[],
  { isSoleWriter = false }: { isSoleWriter?: boolean } = {},
): Promise<Conclusion> {
  const judge = new Judge({ choices, isSoleWriter })
  for (const exchange of exchanges) judge.take(exchange)
  return judge.conclude()
}

/** What `check` says wrongly of these exchanges with a service that keeps the specification. */
export async function accusationsOfCheck(exchanges: readonly Exchange[], isSoleWriter: boolean): Promise<string[]> {
  return accusationsIn(await check(exchanges, { isSoleWriter }))
}

/** Findings that accuse the service, in words. */
export function accusationsIn({ findings }: Pick<Conclusion, 'findings'>): string[] {
  return findings.filter((finding) => isFailure(finding) && partyOf(finding) === 'service').map(describe)
}

/** The ids of the findings and checks of which accusations tell. */
export function idsOf(accusations: readonly string[]): string[] {
  return accusations.map((text) => /\{([^{};]*); [^{};]*\}$/.exec(text)?.[1] ?? text.replace(/:.*/s, ''))
}

function describe(finding: JudgedDifference): string {
  const { label, rule, method, path, status, message, id, request_id } = finding
  const what = rule === undefined ? id : `${id} (${rule})`
  return `[${label}] ${method} ${path} → ${status ?? 'nothing'}: ${message} {${what}; ${request_id}}`
}

export interface Verified {
  /** The checks that failed, in words, or why the run came to nothing. */
  failures: string[]
  requests: number
  /** What the run left in the account that was not there before. */
  left: string[]
}

export interface VerifyTerms {
  exhaust?: boolean
  soleWriter?: boolean
  trouble?: Trouble | undefined
  begin?: number | undefined
}

/** How long a request of `verify` takes on the clock of the service, in milliseconds. */
const LASTS = 20

/** What `verify` says about a service, with a clock that a wait moves on. */
export async function verifyService(
  service: Pick<IndependentService, 'answer' | 'account'>,
  { exhaust = true, soleWriter = true, trouble, begin = BEGIN }: VerifyTerms = {},
): Promise<Verified> {
  let time = begin
  const { account } = service
  const inventory = () => [...account.domains, ...account.groups.map(({ id }) => id)]
  const had = inventory()
  const listener = await listen(service, { now: () => time, trouble })
  const advance = (milliseconds: number) => {
    time += milliseconds
  }
  const way: Way = (request, send) => {
    time += LASTS
    return send(request)
  }
  try {
    const run = { waits: true, exhaust, soleWriter, ledger: NO_LEDGER, apiKey: KEY, way, clock: () => time }
    const result = await prepareRun({ baseUrl: listener.url, advance }, run).result()
    const terms = { accepted: new Set<string>(), minReached: 0, isSoleWriter: soleWriter }
    const assessment = assess({ result, choices, target: listener.url, ...terms })
    const failed = assessment.checks.filter(({ outcome }) => outcome === 'fail')
    return {
      failures: failed.map(({ id, message, finding }) =>
        finding === undefined ? `${id}: ${message}` : describe(finding),
      ),
      requests: listener.requests(),
      left: inventory().filter((each) => !had.includes(each)),
    }
  } catch (error) {
    if (!(error instanceof TargetError)) throw error
    return { failures: [`target: ${error.message}`], requests: listener.requests(), left: [] }
  } finally {
    await listener.close()
  }
}
