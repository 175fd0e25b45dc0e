import { describe, expect, it } from 'vitest'
import type { JudgedDifference } from '../../src/conformance/finding.ts'
import type { Exchange } from '../../src/exchanges/exchange.ts'
import type { ExchangeJudge } from '../../src/proxy/judge.ts'
import { Judging } from '../../src/proxy/judging.ts'

const FINDING = { id: 'x', label: 'unexplained', method: 'GET', path: '/', message: '' } satisfies JudgedDifference

function exchange(id: string, size = 0): Exchange {
  const body = { isKnown: true as const, bytes: Buffer.alloc(size) }
  const request = { method: 'GET', target: '/', headers: {}, credentials: { kind: 'none' } as const, body }
  return { id, at: 0, until: 0, overlaps: false, request, response: undefined }
}

/** A judge that writes down what it is given, and throws where it is told to. */
function recordingJudge(): Pick<ExchangeJudge, 'take' | 'forget'> & { told: string[] } {
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
  }
}

/** A judging of these exchanges that goes on as it can, what its judge was told, and what it told of itself. */
function judgingOf(ids: readonly string[], limits?: { exchanges?: number; bytes?: number }, size = 0) {
  const judge = recordingJudge()
  const found: number[] = []
  const errors: unknown[] = []
  const judging = new Judging(
    judge,
    (findings) => found.push(findings.length),
    (error) => errors.push(error),
    limits,
  )
  for (const id of ids) judging.add(exchange(id, size))
  return { judging, told: judge.told, found, errors }
}

describe('Judging', () => {
  it('hands exchanges on one after the other, and their findings back', async () => {
    const { judging, told, found } = judgingOf(['1', '2', '3'])
    expect(told).toEqual([])
    await judging.finish()
    expect([told, found]).toEqual([
      ['1', '2', '3'],
      [1, 1, 1],
    ])
  })

  it.each([
    ['exchanges', { exchanges: 2 }, 0],
    ['bytes', { bytes: 25 }, 10],
  ] as const)('skips what comes while too many %s wait, and says so to the judge once', async (_, limits, size) => {
    const { judging, told } = judgingOf(['1', '2', '3', '4'], limits, size)
    await judging.finish()
    judging.add(exchange('5'))
    await judging.finish()
    expect(told).toEqual(['1', '2', 'forget', '5'])
    expect(judging.skipped).toBe(2)
  })

  it('goes on after the judge has thrown, which has forgotten everything then', async () => {
    const { judging, told, errors } = judgingOf(['1', 'bad', '2'])
    await judging.finish()
    expect(told).toEqual(['1', 'bad', 'forget', '2'])
    expect([errors, judging.failures]).toEqual([[new Error('a bug')], 1])
  })

  it('skips what waits when nobody has the patience', async () => {
    const { judging, told } = judgingOf(['1', '2', '3'])
    await judging.finish(AbortSignal.abort())
    expect(told).toEqual([])
    expect(judging.skipped).toBe(3)
  })
})
