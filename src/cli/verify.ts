import type { Contract } from '../contract/contract.ts'
import { LIMITS } from '../domain/limits.ts'
import { show } from '../ground/show.ts'
import {
  fileName,
  type OptionKind,
  type Options,
  optIn,
  secret,
  text,
  textThat,
  timeLimit,
  wholeNumber,
} from '../server/option.ts'
import type { Reserve } from '../verify/budget.ts'
import { assess, concernsService } from '../verify/checks.ts'
import { describePlan, planProbes } from '../verify/plan.ts'
import { describeRefusal, describeVerify } from '../verify/report.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { execute } from './execution.ts'
import { type ReadOptions, readOptions, refuseOperands } from './options.ts'
import { openReview, REVIEW_OPTIONS, type Review } from './review.ts'
import { type Asking, askService, explainTrouble, mayWrite, sweepTarget, targetOf } from './service-asking.ts'
import { baseUrl } from './target-options.ts'

/** The run puts up to 40 characters before the suffix, and a hostname has at most 253. */
const suffix = textThat(
  (written) =>
    written.length <= 200 && /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(written),
  'must be a domain below which names may be added, such as example or test.example.com',
  'DOMAIN',
)

/** `5` for all paths, or `domains=5` for one. */
const reserve: OptionKind<readonly string[]> = {
  remedy: `must be a whole number from 0 to ${LIMITS.quota}, or a quota and such a number, as domains=5`,
  placeholder: '[PATH=]N',
  repeatable: true,
  fits: (value): value is readonly string[] =>
    Array.isArray(value) && value.every((each) => /^(?:[^=]+=)?\d{1,15}$/.test(each) && amountIn(each) <= LIMITS.quota),
  read: (written) => written,
}

function amountIn(written: string): number {
  return Number(written.split('=').at(-1))
}

export const VERIFY_OPTIONS = {
  baseUrl: { kind: baseUrl, help: 'Base URL of the service, with its version segment.' },
  apiKey: {
    kind: secret,
    placeholder: 'KEY',
    help: 'The API key. In the environment, no list of processes shows it. No report, ledger or log has it.',
  },
  allowWrites: optIn('Also send requests that create and remove things to a host other than this machine.'),
  readOnly: optIn('Send nothing but GET and HEAD, also to this machine.'),
  showPlan: {
    ...optIn('Send nothing; print each request, what it costs, what it decides, and how long everything takes.'),
    flag: 'plan',
  },
  reserve: {
    kind: reserve,
    help: 'Requests in the quota of each path that are left to other clients; domains=5 is for one path. The cleanup may use them.',
    default: [],
    defaultText: '0',
  },
  wait: optIn(
    'Wait for the reset when a quota is used up, until everything was asked. Without this option, the run ends at that point.',
  ),
  exhaust: optIn(
    'At the end, use up each quota to see how a request beyond it is refused. Other clients with the key are refused, too, until the reset.',
  ),
  soleWriter: optIn('No other client changes the account during the run, so the answers show more about the service.'),
  minReached: {
    kind: wholeNumber(0, 100),
    placeholder: 'PERCENT',
    help: 'The result is inconclusive if a smaller share of the checks was reached.',
    default: 0,
  },
  domainSuffix: {
    kind: suffix,
    help: 'Suffix of the names of added domains. The top-level domain example is reserved for such purposes.',
    default: 'example',
  },
  timeout: { kind: timeLimit, help: 'Time limit of one response.', default: '30s' },
  ledger: {
    kind: fileName,
    help: 'The file in which the run notes each item before it creates it. It is removed when nothing is left to do.',
    defaultText: 'understudy-verify-RUN.json in the working folder',
  },
  sweep: {
    kind: text,
    placeholder: 'LEDGER',
    help: 'Remove only the items that the run of this ledger has left in the account.',
  },
  ...REVIEW_OPTIONS,
} as const satisfies Options

type VerifyReading = ReadOptions<typeof VERIFY_OPTIONS>

export const verify: Command = {
  options: VERIFY_OPTIONS,

  async run(args, terminal) {
    const reading = readOptions(VERIFY_OPTIONS, args, terminal.environment)
    const { values, sources } = reading
    refuseOperands('verify', reading.positionals)
    if (values.readOnly && values.allowWrites)
      throw new UsageError('--read-only: contradicts --allow-writes; give one of them')
    if (values.sweep !== undefined && values.ledger !== undefined)
      throw new UsageError(`${sources.ledger}: contradicts --sweep, which names the ledger`)
    const review = await openReview('verify', reading, [
      { source: sources.sweep, file: values.sweep, isRead: true },
      { source: sources.ledger, file: values.ledger },
    ])
    const { choices } = review
    const reserve = readReserve(reading, choices.contract)
    if (values.showPlan) {
      const writes = mayWrite(values)
      const plan = planProbes({ ...values, writes })
      for (const line of describePlan(plan, choices.contract, { writes, reserve })) terminal.print(line)
      return 0
    }
    const { baseUrl, apiKey } = values
    if (baseUrl === undefined) throw new UsageError('--base-url URL: is needed, such as http://127.0.0.1:4010/api/v1')
    if (apiKey === undefined) {
      throw new UsageError('--api-key KEY: is needed, best in the environment as DMARC_UNDERSTUDY_API_KEY')
    }
    return execute('verify', terminal, async (execution) => {
      const asking: Asking = {
        ...{ ...values, baseUrl, apiKey, choices, reserve, execution },
        ledgerSource: values.ledger === undefined ? undefined : sources.ledger,
      }
      if (values.sweep === undefined) return verifyTarget(asking, reading, review)
      const outcome = await sweepTarget(asking, values.sweep, sources.sweep).catch(explainTrouble(baseUrl))
      return typeof outcome === 'number' ? outcome : execution.say(`verify: ${outcome.reason}`, outcome.exitCode)
    })
  },
}

/** @throws UsageError for a path without a quota */
function readReserve({ values, sources }: VerifyReading, { operations }: Contract): Reserve {
  const names = [...new Set(operations.flatMap(({ path, quota }) => (quota === undefined ? [] : [path.slice(1)])))]
  const amounts = new Map<string, number>()
  for (const written of values.reserve) {
    const [name = ''] = written.includes('=') ? written.split('=') : ['']
    if (name !== '' && !names.includes(name)) {
      throw new UsageError(`${sources.reserve}: there is no quota ${show(name)}; the quotas are ${names.join(', ')}`)
    }
    amounts.set(name, amountIn(written))
  }
  return (path) => amounts.get(path.slice(1)) ?? amounts.get('') ?? 0
}

async function verifyTarget(asking: Asking, { values }: VerifyReading, review: Review): Promise<number> {
  const { execution, choices, apiKey, soleWriter: isSoleWriter } = asking
  const { minReached, report: targets } = values
  const target = targetOf(asking.baseUrl)
  const asked = await askService(asking).catch(explainTrouble(asking.baseUrl))
  if ('reason' in asked) {
    const { reason, exitCode } = asked
    return execution.refuse(describeRefusal(target, reason, { ...execution.times, exitCode }), targets)
  }
  const { result, sweep } = asked
  const { conclusion, ended } = result
  const findings = conclusion.findings.filter(concernsService)
  const accepted = new Set(review.apply(findings, conclusion.answers)?.accepted.map(({ finding }) => finding.id))
  const isAccepted = ({ id }: { id: string }) => accepted.has(id)
  const assessment = assess({ result, choices, target, isAccepted, minReached, isSoleWriter })
  const { interruptedWith, ...times } = execution.times
  const isBroken = ended?.kind === 'connection' || ended?.kind === 'ledger'
  const exitCode = ended?.kind === 'interrupted' ? interruptedWith : isBroken ? 3 : undefined
  const report = describeVerify({ ...{ target, result, assessment, choices, minReached, sweep, exitCode }, ...times })
  const isWhole = ended === undefined
  return review.finish({ conclusion, report, findings, isWhole, target, secrets: [apiKey] }, execution)
}
