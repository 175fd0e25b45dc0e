import { describe, expect, it } from 'vitest'
import { RequestIdTrack } from '../../src/conformance/request-ids.ts'
import { DATE, readingOf, success } from '../exchanges/made-exchange.ts'
import { permitted } from '../support/permitted.ts'

/** The findings about a list that is answered with the same id each time, by the seconds at which it is asked. */
function repeat(seconds: readonly number[]): string[] {
  const track = new RequestIdTrack(permitted)
  return seconds.flatMap((after) => {
    const reading = readingOf({ path: '/domains', at: DATE + after * 1000, body: success({ domains: [] }) })
    return track.take(reading).findings.map(({ id }) => `${id} after ${after} seconds`)
  })
}

describe('an X-Request-Id', () => {
  it('that three requests have is reported once, however many follow at whatever time', () => {
    expect(repeat([0, 1, 2, 2, 1, 3, 2])).toEqual([
      'unexplained/listDomains/200/headers/x-request-id/repeated after 2 seconds',
    ])
  })

  it('that two have, or that a recorder repeats with one answer, is not reported', () => {
    expect(repeat([0, 1, 1, 0, 1])).toEqual([])
  })
})
