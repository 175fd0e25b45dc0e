import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import { outcome } from '../../contract/outcome.ts'
import { budget } from '../../support/budget.ts'
import { type Received, sendRequest } from '../../support/request.ts'
import { START, startService, violationsOf } from '../../support/service.ts'
import { DEVIATIONS } from './deviations.ts'
import { startIndependentService } from './independent-service.ts'
import { makeTour, OTHER_TOUR_KEY, TOUR_ACCOUNT, TOUR_KEY } from './tour.ts'

interface Step {
  method: string
  path: string
  received: Received
}

/** What came back at each step of the tour. */
async function tourOf(baseUrl: string, advance: (milliseconds: number) => void): Promise<Step[]> {
  const steps: Step[] = []
  await makeTour({
    async send(method, path, body, authorization = `Bearer ${TOUR_KEY}`) {
      const received = await sendRequest(method, baseUrl + path, body, { authorization }).catch(textOf)
      steps.push({ method, path, received })
      return received
    },
    advance,
  })
  return steps
}

/** JSON that cannot be read is an error of the client, which is what the tour shows. */
function textOf(error: unknown): Received {
  return { status: 0, headers: {}, text: String(error), body: undefined }
}

async function tourOfDeviation(deviation?: string): Promise<Step[]> {
  let now = START
  const service = await startIndependentService({
    ...TOUR_ACCOUNT,
    keys: [TOUR_KEY, OTHER_TOUR_KEY],
    clock: () => now,
    deviation,
  })
  try {
    return await tourOf(service.baseUrl, (milliseconds) => {
      now += milliseconds
    })
  } finally {
    await service.stop()
  }
}

/** Everything of the responses but the time; ids of requests by the order of their first use. */
function transcriptOf(steps: readonly Step[]): string[] {
  const ids: string[] = []
  return steps.map(({ method, path, received: { status, headers, text } }) => {
    const { date: _, 'x-request-id': id = 'none', ...others } = headers
    if (!ids.includes(id)) ids.push(id)
    return `${method} ${path} ${status} ${ids.indexOf(id)} ${id === 'none'} ${JSON.stringify(others)} ${text}`
  })
}

const right = await tourOfDeviation()

describe('the independent service', () => {
  it('keeps the contract at every step of the tour', async () => {
    const contract = await loadContract()
    for (const { method, path, received } of right) {
      expect(violationsOf(contract, method, path, received), `${method} ${path} → ${received.text}`).toEqual([])
    }
  })

  it('decides every step of the tour as the stand-in does', async () => {
    const { domains, inUse, groups } = TOUR_ACCOUNT
    const created_at = '2025-01-01T00:00:00Z'
    const service = await startService({
      fixture: {
        domains: domains.map((name) => ({ name, features: inUse.includes(name) ? ['mta-sts'] : [] })),
        groups,
        keys: [TOUR_KEY, OTHER_TOUR_KEY].map((key) => ({ key, created_at })),
      },
    })
    const ours = await tourOf(service.baseUrl, service.advance)
    expect(right.map(decisionOf)).toEqual(ours.map(decisionOf))
  })

  it('imports nothing of the program', () => {
    const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    const sources = files.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    expect(sources.length).toBeGreaterThan(5)
    for (const name of sources) {
      expect(readFileSync(join(import.meta.dirname, name), 'utf8'), name).not.toMatch(/from '[./]*\/(src|support)\//)
    }
  })

  it('refuses an account whose plan has no API', async () => {
    const service = await startIndependentService({ hasPlan: false })
    onTestFinished(service.stop)
    const headers = { authorization: `Bearer ${service.apiKey}` }
    expect(outcome(await sendRequest('GET', `${service.baseUrl}/domains`, undefined, headers))).toBe('403 unauthorized')
  })
})

describe('a deviation of the independent service', () => {
  it('has a name of its own', () => {
    expect(new Set(DEVIATIONS.map(({ id }) => id)).size).toBe(DEVIATIONS.length)
  })

  const tried = DEVIATIONS.filter((_, index) => index % budget({ quick: 10, full: 1 }) === 0)
  it.each(tried.map((deviation) => [deviation.id, deviation] as const))(
    '%s shows on the tour',
    async (id, { says }) => {
      expect(transcriptOf(await tourOfDeviation(id)), says).not.toEqual(transcriptOf(right))
    },
  )
})

/** What was decided, without the ids and texts that each service chooses. */
function decisionOf({ method, path, received }: Step): unknown {
  const { headers, body } = received
  const quota = ['limit', 'remaining', 'reset'].map((name) => headers[`x-ratelimit-${name}`])
  const { domains, count, groups, group } = body?.data ?? {}
  const withoutIds = [...(groups ?? []), ...(group === undefined ? [] : [group])].map(({ id: _, ...rest }) => rest)
  return [method, path.split('=')[0], outcome(received), domains, count, withoutIds, ...quota, headers['content-type']]
}
