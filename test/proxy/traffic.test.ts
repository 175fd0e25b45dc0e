import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type Draft, LOST_REQUEST, ORDER_PATIENCE, ProxyTraffic } from '../../src/proxy/traffic.ts'
import { replaceTime } from '../support/replaced-time.ts'

/** Traffic, and what it tells of its requests: the target of each exchange, or that nothing is known any more. */
function open() {
  const told: string[] = []
  const traffic = new ProxyTraffic(
    {
      exchange: ({ request, overlaps }) => void told.push(`${request.target}${overlaps ? ' overlaps' : ''}`),
      unknown: () => void told.push('unknown'),
    },
    () => 0,
  )
  const begin = (method: string, target: string) =>
    traffic.begin({ httpVersion: 'HTTP/1.1', fields: [], method, target })
  return { traffic, told, begin }
}

function finish(draft: Draft): void {
  draft.answer({ httpVersion: 'HTTP/1.1', fields: [], status: 200, reason: 'OK' })
  draft.endRequest()
  draft.endResponse()
}

describe('The traffic of a proxy', () => {
  beforeEach(() => void replaceTime(['setTimeout', 'clearTimeout']))

  it.each<[what: string, method: string, waited: number, told: string[]]>([
    ['in order, if the first ends in time', 'POST', ORDER_PATIENCE - 1, ['first', 'second overlaps']],
    [
      'late, and that nothing is known before it, if it is a change',
      'POST',
      ORDER_PATIENCE,
      ['second overlaps', 'unknown', 'first'],
    ],
    ['late and no more, if it is a read', 'GET', ORDER_PATIENCE, ['second', 'first']],
  ])('tells a request that ends after a later one %s', (_, method, waited, expected) => {
    const { told, begin } = open()
    const [first, second] = [begin(method, 'first'), begin('GET', 'second')]
    finish(second)
    vi.advanceTimersByTime(waited)
    finish(first)
    expect(told).toEqual(expected)
  })

  it('counts a change without a response as under way until nothing can come of it', () => {
    const { told, begin } = open()
    begin('DELETE', 'lost').end('The connection was cut.')
    vi.advanceTimersByTime(LOST_REQUEST - 1)
    finish(begin('GET', 'soon'))
    vi.advanceTimersByTime(1)
    finish(begin('GET', 'later'))
    expect(told).toEqual(['lost', 'soon overlaps', 'later'])
  })
})
