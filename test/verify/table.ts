import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { type Alternative, nameOf } from '../../src/contract/choices.ts'
import type { Exchange } from '../../src/exchanges/exchange.ts'
import { codeIn } from '../../src/exchanges/reading.ts'
import { isCounted } from '../../src/judge/finding.ts'
import { assess } from '../../src/verify/checks.ts'
import { planProbes } from '../../src/verify/plan.ts'
import type { VerifyResult } from '../../src/verify/run.ts'
import { isObservable } from '../judge/calibration.ts'
import { choices } from '../support/choices.ts'
import { openService } from '../support/service.ts'
import { NO_JUDGE, NO_LEDGER, prepareRun } from './runs.ts'

export { choices }

/** The probes of a run that may do everything. */
export const PLAN = planProbes({ writes: true, exhaust: true })

type Terms = Partial<Parameters<typeof prepareRun>[1]>

/** What comes of some probes, asked of a stand-in with an empty account that makes these choices. */
async function askStandIn(alternatives: readonly Alternative[], terms: Terms): Promise<VerifyResult> {
  const service = await openService({}, OPERATIONS, { contract: await choices.compile(alternatives) })
  try {
    return await prepareRun(service, { waits: true, exhaust: true, ledger: NO_LEDGER, ...terms }).result()
  } finally {
    await service.stop()
  }
}

/** What is wrong about what a probe says of itself: that it decides these assumptions, and what comes of it. */
export async function mistakesOf(id: string): Promise<string[]> {
  const plan = PLAN.filter(({ probe }) => probe.id === id)
  const [{ probe } = { probe: undefined }] = plan
  const { decides = [], expect, exhausts } = probe ?? {}
  const answersUnder = async (alternatives: readonly Alternative[]) => {
    const { exchanges } = await askStandIn(alternatives, { plan, judge: NO_JUDGE })
    return exchanges.filter((each) => each.probe === id).map(({ exchange }) => exchange)
  }
  const mistakes: string[] = []
  const ours = await answersUnder([])
  const check = (answers: readonly Exchange[], under: string) => {
    const isRefused = codeIn(answers.at(-1)?.response as never) !== undefined
    const isWrong = expect !== undefined && isRefused !== (expect === 'refused')
    const before = exhausts === true ? [] : answers.slice(0, -1)
    const hindered = before.some(({ response }) => expect !== undefined && (response?.status ?? 500) >= 300)
    if (isWrong || hindered) mistakes.push(`${id} is not ${expect} ${under}`)
  }
  check(ours, 'by the choices of the stand-in')
  for (const assumption of decides) {
    let isTold = false
    for (const alternative of choices.alternatives.filter((each) => each.id === assumption)) {
      const answers = await answersUnder([alternative])
      check(answers, `under ${nameOf(alternative)}`)
      isTold ||= JSON.stringify(answers.map(shownOf)) !== JSON.stringify(ours.map(shownOf))
    }
    const isKnown = choices.alternatives.some((each) => each.id === assumption)
    if (isKnown && !isTold && !NEEDS_MAIL.includes(assumption)) mistakes.push(`${id} does not decide ${assumption}`)
  }
  return mistakes
}

function shownOf({ response }: Exchange) {
  const { date: _, ...headers } = response?.headers ?? {}
  return [response?.status, headers, response?.body.isKnown === true && response.body.bytes.toString()]
}

/** What shows only in an account whose domains have mail. */
const NEEDS_MAIL = ['decimals', 'percentages']

/** What one key cannot ask within hours, in an account without domains that have mail. */
const NOT_ASKED = /^(grace|refresh-time|decimals|percentages|policies|plan|status-plan|quota-scope|message-texts)/

/** What is wrong about a whole run against a stand-in that makes this choice. */
export async function mistakesUnder(truth: Alternative): Promise<string[]> {
  const name = nameOf(truth)
  const result = await askStandIn([truth], {})
  const terms = { target: '', accepted: new Set<string>(), minReached: 0, isSoleWriter: false }
  const { checks, assumptions } = assess({ result, choices, ...terms })
  const mine = assumptions.find(({ id }) => id === truth.id)
  const isFound = mine?.verdict === 'alternative' && mine.alternative === truth.number
  const isPossible = mine?.verdict === 'undecided' && (mine.left === undefined || mine.left.includes(truth.number))
  const isDecided = PLAN.some(({ probe }) => probe.decides?.includes(truth.id) === true)
  const isAsked = isDecided && isObservable(truth) && !NOT_ASKED.test(truth.id)
  const doubted = checks.filter(({ id, outcome, message = '' }) => {
    return id.startsWith('rule/') && outcome === 'undecidable' && message.includes('does not show')
  })
  return [
    ...(isFound || (isPossible && !isAsked) ? [] : [`${name} was taken for ${JSON.stringify(mine)}`]),
    ...result.conclusion.findings
      .filter((finding) => isCounted(finding, 'service'))
      .map(({ id, message }) => `${name}: ${id}: ${message}`),
    ...doubted.map(({ id, message }) => `${name}: ${id}: ${message}`),
    ...(result.cleanup.restored ? [] : [`${name}: the account was not restored`]),
  ]
}
