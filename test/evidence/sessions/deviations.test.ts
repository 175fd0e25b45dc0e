import { describe, expect, it } from 'vitest'
import type { Exchange } from '../../../src/evidence/exchange.ts'
import type { Finding } from '../../../src/evidence/finding.ts'
import { Investigation } from '../../../src/evidence/investigation.ts'
import { budget } from '../../support/budget.ts'
import { exchangeWith } from '../../support/exchanges.ts'
import { START } from '../../support/service.ts'
import type { Deviation } from '../independent-service/deviations/deviation.ts'
import { DEVIATIONS } from '../independent-service/deviations.ts'
import { startIndependentService } from '../independent-service/independent-service.ts'
import { makeTour, OTHER_TOUR_KEY, TOUR_ACCOUNT, TOUR_KEY } from '../independent-service/tour.ts'
import { accusationsIn, choices, describeFinding, isAboutRequest, judge, wrongVerdicts } from './judgement.ts'

const PACE = 7

/** What the tour exchanges with an independent service that has this deviation. */
async function tourOf(deviation: string | undefined): Promise<Exchange[]> {
  let now = START
  const keys = [TOUR_KEY, OTHER_TOUR_KEY]
  const service = await startIndependentService({ ...TOUR_ACCOUNT, keys, clock: () => now, deviation })
  const exchanges: Exchange[] = []
  try {
    await makeTour({
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
      return !isAboutRequest(finding) && (finding.pointer ?? '').includes(named.where ?? '')
    case 'broken rule':
      return finding.rule === named.rule
    case 'unexplained':
      return true
    case 'decides assumption':
      return finding.assumption === named.assumption && finding.alternative === named.alternative
  }
}

/** What was said of a tour until the deviation was named; `undefined` where it was. */
async function findingsUntilNamed(deviation: Deviation): Promise<readonly Finding[] | undefined> {
  const investigation = await Investigation.begin({ choices, isSoleWriter: true })
  for (const exchange of await tourOf(deviation.id)) {
    const findings = await investigation.take(exchange)
    if (findings.some((finding) => names(deviation, finding))) return undefined
  }
  const { findings } = investigation.conclude()
  return findings.some((finding) => names(deviation, finding)) ? undefined : findings
}

describe('of an independent service', () => {
  it('nobody says anything wrong where it is right', async () => {
    const { conclusion, verdicts } = await judge(await tourOf(undefined), { isSoleWriter: true })
    expect([...accusationsIn(conclusion), ...wrongVerdicts(verdicts)]).toEqual([])
  })

  it('each deviation is named', async () => {
    const seen = DEVIATIONS.filter(({ shows }) => shows !== 'keys')
    const tried = seen.filter((_, index) => index % budget({ quick: 15, full: 1 }) === 0)
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
