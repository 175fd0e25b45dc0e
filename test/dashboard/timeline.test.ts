import { describe, expect, it } from 'vitest'
import { readWritten } from '../../src/dashboard/formatting.ts'
import type { JournalEntry, Snapshot } from '../../src/dashboard/responses.ts'
import { layTimeline, type Moment } from '../../src/dashboard/time/timeline.ts'

let ordinal = 0

/** A request at a minute of the account's clock. */
function request(minute: number, method = 'GET', status: number | null = 200): JournalEntry {
  ordinal += 1
  const at = new Date(Date.parse('2026-01-15T09:00:00Z') + minute * 60_000).toISOString()
  return { ordinal, request_id: `request-${ordinal}`, at, method, status } as JournalEntry
}

function snapshot(name: string, minute: number): Snapshot {
  return { name, taken_at: request(minute).at.replace('.000Z', 'Z'), domains: 1, groups: 0 }
}

/** Each moment in a word. */
function wordsOf(moments: readonly Moment[]): string[] {
  return moments.map((moment) => {
    if (moment.kind === 'snapshot') return moment.snapshot.name
    if (moment.kind === 'change') return `change at ${moment.request.at.slice(14, 16)}`
    if (moment.kind === 'rest') return `${moment.requests.length} others`
    return `back to ${moment.to.slice(14, 16)}`
  })
}

describe('the timeline', () => {
  it.each<[string, JournalEntry[], Snapshot[], string[]]>([
    ['has the newest first', [request(1, 'POST'), request(2, 'DELETE')], [], ['change at 02', 'change at 01']],
    [
      'takes together what changed nothing',
      [request(1), request(2, 'HEAD'), request(3, 'POST', 409), request(4, 'POST'), request(5)],
      [],
      ['1 others', 'change at 04', '3 others'],
    ],
    ['has a write whose answer was lost among the changes', [request(1, 'POST', null)], [], ['change at 01']],
    [
      'has a snapshot where the clock showed its time, after a request of the same instant',
      [request(1, 'POST'), request(3, 'POST')],
      [snapshot('old', 0), snapshot('first', 1), snapshot('late', 9)],
      ['late', 'change at 03', 'first', 'change at 01', 'old'],
    ],
    [
      'divides what changed nothing at a snapshot',
      [request(1), request(2), request(4)],
      [snapshot('first', 3)],
      ['1 others', 'first', '2 others'],
    ],
    [
      'says where the clock went back',
      [request(5, 'POST'), request(9), request(2), request(3, 'POST')],
      [],
      ['change at 03', '1 others', 'back to 02', '1 others', 'change at 05'],
    ],
  ])('%s', (_, requests, snapshots, expected) => {
    expect(wordsOf(layTimeline(requests, snapshots))).toEqual(expected)
  })
})

describe('an instant that a person writes', () => {
  it.each([
    ['2026-01-15 09:30', '2026-01-15T09:30Z'],
    [' 2026-01-15T09:30:12.5Z ', '2026-01-15T09:30:12.5Z'],
    ['2026-01-15', '2026-01-15T00:00Z'],
    ['2026-01-15 09:30+02:00', '2026-01-15T09:30+02:00'],
    ['tomorrow', 'tomorrow'],
  ])('is %j in RFC 3339 as %j, or stays as it is', (text, instant) => {
    expect(readWritten(text)).toBe(instant)
  })
})
