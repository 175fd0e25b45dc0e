import { describe, expect, it } from 'vitest'
import type { Exchange } from '../../../src/evidence/exchange.ts'
import type { Finding } from '../../../src/evidence/finding.ts'
import type { Conclusion } from '../../../src/evidence/investigation.ts'
import type { Judge } from '../../../src/evidence/proxy/judge.ts'
import { Judging } from '../../../src/evidence/proxy/judging.ts'

const FINDING = { id: 'x', label: 'unexplained', method: 'GET', path: '/', message: '' } satisfies Finding

function exchange(id: string, size = 0): Exchange {
  const body = { isKnown: true as const, bytes: Buffer.alloc(size) }
  const request = { method: 'GET', target: '/', headers: {}, credentials: { kind: 'none' } as const, body }
  return { id, at: 0, until: 0, overlaps: false, request, response: undefined }
}

/** A judge that writes down what it is given, and throws where it is told to. */
function recordingJudge(): Judge & { told: string[] } {
  const told: string[] = []
  return {
    told,
    async take({ id }) {
      await new Promise((resolve) => setImmediate(resolve))
      told.push(id)
      if (id === 'bad') throw new Error('a bug')
      return [FINDING]
    },
    forget: () => void told.push('forget'),
    conclude: () => ({}) as Conclusion,
  }
}

describe('Judging', () => {
  it('hands exchanges on one after the other, and their findings back', async () => {
    const judge = recordingJudge()
    const judged: string[] = []
    const judging = new Judging(judge, {
      judged: ({ id }, findings) => judged.push(`${id} ${findings.length}`),
      failed: () => {},
    })
    for (const id of ['1', '2', '3']) judging.add(exchange(id))
    expect(judge.told).toEqual([])
    await judging.finish()
    expect([judge.told, judged]).toEqual([
      ['1', '2', '3'],
      ['1 1', '2 1', '3 1'],
    ])
  })

  it.each([
    ['exchanges', { exchanges: 2 }, 0],
    ['bytes', { bytes: 25 }, 10],
  ] as const)('skips what comes while too many %s wait, and says so to the judge once', async (_, limits, size) => {
    const judge = recordingJudge()
    const judging = new Judging(judge, { judged: () => {}, failed: () => {} }, limits)
    for (const id of ['1', '2', '3', '4']) judging.add(exchange(id, size))
    await judging.finish()
    judging.add(exchange('5'))
    await judging.finish()
    expect(judge.told).toEqual(['1', '2', 'forget', '5'])
    expect(judging.skipped).toBe(2)
  })

  it('goes on after the judge has thrown, which has forgotten everything then', async () => {
    const judge = recordingJudge()
    const errors: unknown[] = []
    const judging = new Judging(judge, { judged: () => {}, failed: (_, error) => errors.push(error) })
    for (const id of ['1', 'bad', '2']) judging.add(exchange(id))
    await judging.finish()
    expect(judge.told).toEqual(['1', 'bad', 'forget', '2'])
    expect([errors, judging.failures]).toEqual([[new Error('a bug')], 1])
  })

  it('skips what waits when nobody has the patience', async () => {
    const judge = recordingJudge()
    const judging = new Judging(judge, { judged: () => {}, failed: () => {} })
    for (const id of ['1', '2', '3']) judging.add(exchange(id))
    await judging.finish(AbortSignal.abort())
    expect(judge.told).toEqual([])
    expect(judging.skipped).toBe(3)
  })
})
