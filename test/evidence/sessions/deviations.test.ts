import { describe, expect, it } from 'vitest'
import type { Exchange } from '../../../src/evidence/exchange.ts'
import type { Finding } from '../../../src/evidence/finding.ts'
import { budget } from '../../support/budget.ts'
import { exchangeWith } from '../../support/exchanges.ts'
import { START } from '../../support/service.ts'
import type { Deviation } from '../independent-service/deviations/deviation.ts'
import { DEVIATIONS } from '../independent-service/deviations.ts'
import { startIndependentService } from '../independent-service/independent-service.ts'
import { makeTour, OTHER_TOUR_KEY, TOUR_ACCOUNT, TOUR_KEY } from '../independent-service/tour.ts'
import { accusationsIn, type Judgement, judge, wrongVerdicts } from './judgement.ts'

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

/** Whether somebody says of the service what is wrong with it. */
function names({ named }: Deviation, { conclusion, verdicts }: Judgement): boolean {
  switch (named.label) {
    case 'contract violation':
      return conclusion.findings.some(
        (finding) => isAboutResponse(finding) && (finding.pointer ?? '').includes(named.where ?? ''),
      )
    case 'broken rule':
      return conclusion.findings.some(({ label, rule }) => label === named.label && rule === named.rule)
    case 'unexplained':
      return conclusion.findings.some(({ label }) => label === named.label)
    case 'decides assumption':
      return verdicts.some(({ id, alternative }) => id === named.assumption && alternative === named.alternative)
  }
}

function isAboutResponse({ label, id }: Finding): boolean {
  return label === 'contract violation' && !/\/request(\/|$)/.test(id)
}

describe('of an independent service', () => {
  it('nobody says anything wrong where it is right', async () => {
    const { conclusion, verdicts } = await judge(await tourOf(undefined), true)
    expect([...accusationsIn(conclusion), ...wrongVerdicts(verdicts)]).toEqual([])
  })

  it('each deviation is named', async () => {
    const tried = DEVIATIONS.filter((_, index) => index % budget({ quick: 15, full: 1 }) === 0)
    const table: string[] = []
    for (const deviation of tried) {
      const judgement = await judge(await tourOf(deviation.id), true)
      if (names(deviation, judgement)) continue
      const said = [...accusationsIn(judgement.conclusion), ...wrongVerdicts(judgement.verdicts)].slice(0, 4)
      const expected = Object.values(deviation.named).join(' ')
      table.push(`${deviation.id}, which is ${expected}: ${said.join('; ') || 'nothing was said'}`)
    }
    expect(table, table.join('\n')).toEqual([])
  })
})
