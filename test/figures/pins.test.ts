import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MonitoredDomain } from '../../src/domain/account.ts'
import type { RecordPin } from '../../src/domain/dmarc.ts'
import { changePin, pinOn } from '../../src/domain/domains.ts'
import { eventsOf } from '../../src/figures/events.ts'
import { recordsFrom } from '../../src/figures/figures.ts'
import { accountOf, DAY, domain, RULES, recordIn, TODAY } from './monitoring.ts'

const { refresh } = RULES.settings
const NOON = DAY / 2
const plain = domain('shop.example', { profile: 'enforced', volume: 30_000 })
const BAD: RecordPin = { p: 'none', dmarc: 12.5 }

/** The domain after its fixed values were changed at noon of some days. */
function changed(changes: readonly (readonly [day: number, pin: RecordPin | undefined])[]): MonitoredDomain {
  return changes.reduce((each, [day, pin]) => changePin(each, pin, day * DAY + NOON), plain)
}

/** The records of the days from 30 days ago to 10 days ahead. */
function history(each: MonitoredDomain) {
  const days = recordsFrom(accountOf([each]), each, TODAY - 30, TODAY + 10, RULES)
  return days.map((record, index) => ({ day: TODAY - 30 + index, record }))
}

/** The days whose records differ from those without any fixed value. */
function changedDays(each: MonitoredDomain): number[] {
  const usual = history(plain)
  return history(each).flatMap(({ day, record }, index) =>
    JSON.stringify(record) === JSON.stringify(usual[index]?.record) ? [] : [day],
  )
}

const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

/** The day of the change to the present values, since which every change has repeated them. */
function sinceOf(changes: readonly (readonly [day: number, pin: RecordPin | undefined])[]): number {
  const values = changes.map(([, pin]) => JSON.stringify(pin))
  return changes[values.findLastIndex((each) => each !== values.at(-1)) + 1]?.[0] ?? TODAY
}

describe('fixed values of a record', () => {
  it('show from the refresh before they were set, and leave the days before as they were', () => {
    const bad = changed([[TODAY, BAD]])
    expect(recordIn(accountOf([bad]), bad.name)).toMatchObject(BAD)
    expect(changedDays(bad)).toEqual(from(TODAY, TODAY + 10))
  })

  it('of a fixture hold from the beginning', () => {
    expect(changedDays({ ...plain, pin: BAD })).toEqual(from(TODAY - 30, TODAY + 10))
  })

  it('are forgotten on all days when they are removed', () => {
    expect(
      changedDays(
        changed([
          [TODAY - 5, BAD],
          [TODAY, undefined],
        ]),
      ),
    ).toEqual([])
  })

  it('are an event of the domain, with the day from which they hold', () => {
    const bad = changed([
      [TODAY - 5, BAD],
      [TODAY - 4, { count: 7 }],
    ])
    const events = eventsOf(accountOf([bad]), bad, TODAY, { first: TODAY - 9, last: TODAY + 9 }, RULES)
    expect(events.filter(({ kind }) => kind === 'fixed')).toEqual([
      {
        ...{ kind: 'fixed', from: TODAY - 4, until: undefined },
        description: 'Fields of its record have fixed values: count 7.',
      },
    ])
  })

  it('of its published policy end the changes of a rollout', () => {
    const kinds = (more: Partial<MonitoredDomain>) => {
      const each = { ...plain, profile: 'rolling-out' as const, since: TODAY - 9, ...more }
      const events = eventsOf(accountOf([each]), each, TODAY, { first: TODAY - 9, last: TODAY + 90 }, RULES)
      return events.map(({ kind }) => kind)
    }
    expect(kinds({})).toContain('policy')
    expect(kinds({ policy: { p: 'none' } })).not.toContain('policy')
    // What is long over is not told.
    expect(kinds({})).not.toContain('addition')
  })

  it('hold from the last change on, whatever came before (seed 5)', () => {
    const pins = fc.option(fc.record({ p: fc.constantFrom('none' as const, 'reject' as const), count: fc.nat(3) }), {
      nil: undefined,
    })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(20), pins), { maxLength: 12 }), (drawn) => {
        const changes = drawn.toSorted(([one], [other]) => one - other).map(([day, pin]) => [TODAY + day, pin] as const)
        const each = changed(changes)
        for (let day = TODAY - 1; day < TODAY + 25; day++) {
          expect(pinOn(each, day, refresh)).toEqual(sinceOf(changes) <= day ? changes.at(-1)?.[1] : undefined)
        }
      }),
      { seed: 5, numRuns: 50 },
    )
  })
})
