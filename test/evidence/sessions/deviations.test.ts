import { describe, expect, it } from 'vitest'
import type { Exchange } from '../../../src/evidence/exchange.ts'
import type { Finding } from '../../../src/evidence/finding.ts'
import { Investigation } from '../../../src/evidence/investigation.ts'
import type { AssumptionVerdict } from '../../../src/evidence/verdict.ts'
import { decideVerdicts } from '../../../src/evidence/verdicts.ts'
import { budget } from '../../support/budget.ts'
import { exchangeWith } from '../../support/exchanges.ts'
import { START } from '../../support/service.ts'
import type { Deviation } from '../independent-service/deviations/deviation.ts'
import { DEVIATIONS } from '../independent-service/deviations.ts'
import { startIndependentService } from '../independent-service/independent-service.ts'
import { OTHER_TOUR_KEY, SECTIONS, TOUR_ACCOUNT, TOUR_KEY } from '../independent-service/tour.ts'
import { accusationsIn, choices, describeFinding, isAboutRequest, judge, wrongVerdicts } from './judgement.ts'

const PACE = 7

/** What each section of the tour exchanges with an independent service that has this deviation. */
async function tourOf(deviation?: string): Promise<Exchange[][]> {
  const sections: Exchange[][] = []
  for (const section of SECTIONS) sections.push(await exchangesOf(section, deviation))
  return sections
}

async function exchangesOf(section: (typeof SECTIONS)[number], deviation: string | undefined): Promise<Exchange[]> {
  let now = START
  const keys = [TOUR_KEY, OTHER_TOUR_KEY]
  const service = await startIndependentService({ ...TOUR_ACCOUNT, keys, clock: () => now, deviation })
  const exchanges: Exchange[] = []
  try {
    await section({
      async send(method, path, body, authorization = `Bearer ${TOUR_KEY}`) {
        const id = `step ${exchanges.length + 1}`
        const exchange = await exchangeWith(service.baseUrl, { method, path, body, authorization, id, at: now })
        exchanges.push(exchange)
        now += PACE
        return { status: exchange.response?.status ?? 0, body: bodyOf(exchange) }
      },
      advance(milliseconds) {
        now += milliseconds
      },
    })
  } finally {
    await service.stop()
  }
  return exchanges
}

/** All that is seen, without what is another one each time. */
function transcriptOf(exchanges: readonly Exchange[]): string {
  const ids = exchanges.map(({ response }) => response?.headers['x-request-id'])
  const seen = exchanges.map(({ response }) => {
    const { 'x-request-id': id, ...headers } = response?.headers ?? {}
    const body = response?.body.isKnown === true ? response.body.bytes.toString() : ''
    return [response?.status, headers, body, id === undefined, ids.indexOf(id)]
  })
  return JSON.stringify(seen)
}

function bodyOf({ response }: Exchange): unknown {
  if (response?.body.isKnown !== true) return undefined
  try {
    return JSON.parse(response.body.bytes.toString())
  } catch {
    return undefined
  }
}

/** Whether a finding says what is wrong with the service. */
function names({ named }: Deviation, finding: Finding): boolean {
  if (finding.label !== named.label) return false
  switch (named.label) {
    case 'contract violation':
    case 'cannot tell':
      return !isAboutRequest(finding) && (finding.pointer ?? '').includes(named.where ?? '')
    case 'broken rule':
      return finding.rule === named.rule
    case 'unexplained':
      return true
    case 'decides assumption':
      return false
  }
}

function isDecided({ named }: Deviation, verdicts: readonly AssumptionVerdict[]): boolean {
  return (
    named.label === 'decides assumption' &&
    verdicts.some(({ id, alternative }) => id === named.assumption && alternative === named.alternative)
  )
}

/** What was said of the sections in which the deviation shows, until it was named; `undefined` where it was. */
async function findingsUntilNamed(deviation: Deviation): Promise<readonly Finding[] | undefined> {
  const said: Finding[] = []
  for (const [index, exchanges] of (await tourOf(deviation.id)).entries()) {
    if (transcriptOf(exchanges) === transcriptOf(right[index] ?? [])) continue
    const investigation = await Investigation.begin({ choices, ...ALONE })
    for (const exchange of exchanges) {
      const findings = await investigation.take(exchange)
      if (findings.some((finding) => names(deviation, finding))) return undefined
    }
    const { findings, observations } = investigation.conclude()
    if (isDecided(deviation, decideVerdicts(observations, choices))) return undefined
    if (findings.some((finding) => names(deviation, finding))) return undefined
    said.push(...findings)
  }
  return said
}

/** Exchanges alone do not tell this: a service that is started again may give the same ids. Who makes them can tell. */
const UNSEEN = ['same-request-id']
const ALONE = { isSoleWriter: true, isSoleClient: true }
const right = await tourOf()

describe('of an independent service', { timeout: 300_000 }, () => {
  it('nobody says anything wrong where it is right', async () => {
    for (const exchanges of right) {
      const { conclusion, verdicts } = await judge(exchanges, ALONE)
      expect([...accusationsIn(conclusion), ...wrongVerdicts(verdicts)]).toEqual([])
    }
  })

  it('each deviation is named', async () => {
    const seen = DEVIATIONS.filter(({ id, shows }) => shows !== 'keys' && !UNSEEN.includes(id))
    const tried = seen.filter((_, index) => index % budget({ quick: 40, full: 1 }) === 0)
    const table: string[] = []
    for (const deviation of tried) {
      const findings = await findingsUntilNamed(deviation)
      if (findings === undefined) continue
      const said = findings.filter((finding) => !isAboutRequest(finding)).map(describeFinding)
      const expected = Object.values(deviation.named).join(' ')
      table.push(`${deviation.id}, which is ${expected}: ${said.slice(0, 4).join('; ') || 'nothing was said'}`)
    }
    expect(table, table.join('\n')).toEqual([])
  })
})
