import { describe, expect, it } from 'vitest'
import type { DmarcRecord } from '../../src/domain/dmarc.ts'
import { characterOf, episodesOf, publishedTags } from '../../src/figures/character.ts'
import type { EpisodeKind } from '../../src/figures/episodes.ts'
import { accountOf, domain, figuresOfDay, recordIn, SEED, TODAY } from './monitoring.ts'

const NAMES = Array.from({ length: 300 }, (_, index) => `d${index}.example`)

describe('in half a year, domains without a story', () => {
  const found = NAMES.map((name) => {
    const character = characterOf(SEED, domain(name, { profile: 'enforced', since: TODAY, volume: 30_000 }))
    return episodesOf(character, TODAY, TODAY + 180)
  })

  it.each<EpisodeKind>(['attack', 'broken-dkim', 'broken-spf', 'new-sender', 'signed-sender'])(
    'have some %s, and each ends',
    (kind) => {
      const some = found.flat().filter((each) => each.kind === kind)
      expect(some.length).toBeGreaterThan(10)
      for (const { from, until } of some) {
        expect(from).toBeGreaterThanOrEqual(TODAY)
        expect(until).toBeGreaterThan(from)
        expect(until).toBeLessThan(from + 110)
      }
    },
  )

  it('are as usual on all other days', () => {
    for (const [index, name] of NAMES.slice(0, 10).entries()) {
      const account = accountOf([domain(name, { profile: 'enforced', since: TODAY, volume: 300_000 })])
      for (let day = TODAY; day < TODAY + 150; day++) {
        if (found[index]?.some(({ from, until }) => from <= day && day < until)) continue
        // The record of a day counts the mail of the day before it.
        expect(figuresOfDay(account, name, day + 1).dmarc, `${name} on day ${day}`).toBeGreaterThan(95)
      }
    }
  })
})

describe('the tags that are drawn', () => {
  const published = Array.from({ length: 4_000 }, (_, index) => {
    const name = index % 2 === 0 ? `d${index}.example` : `mail.d${index}.example`
    const character = characterOf(SEED, domain(name))
    return { name, profile: character.profile, tags: publishedTags(character, TODAY) }
  }).flatMap(({ tags, ...rest }) => (tags === undefined ? [] : [{ ...rest, tags }]))

  it.each<[string, (each: (typeof published)[number]) => boolean]>([
    [
      'no t=y and no pct where the policy is none',
      ({ tags: { p, testing, pct } }) => p === 'none' && (testing === 'y' || pct !== undefined),
    ],
    ['no t=y beside a pct', ({ tags: { testing, pct } }) => testing === 'y' && pct !== undefined],
    ['no sp that repeats p', ({ tags: { p, sp } }) => sp === p],
  ])('have %s', (_, isAbsurd) => {
    expect(published.filter(isAbsurd)).toEqual([])
  })
})

describe('the mix that chance gives', () => {
  const all = Array.from({ length: 5_000 }, (_, index) => domain(`d${index}.example`))
  const records = all.map((each) => recordIn(accountOf([each]), each.name))

  it('has the volumes of a heavy-tailed estate: a sixth to a fifth silent, a median near 300, a long tail', () => {
    const counts = records
      .map(({ count }) => count)
      .filter((count) => count > 0)
      .toSorted((one, other) => one - other)
    const silent = 1 - counts.length / all.length
    expect(silent).toBeGreaterThan(0.15)
    expect(silent).toBeLessThan(0.21)
    const quantile = (share: number) => counts[Math.floor(counts.length * share)] ?? 0
    expect(quantile(0.5)).toBeGreaterThan(250)
    expect(quantile(0.5)).toBeLessThan(400)
    expect(quantile(0.95)).toBeGreaterThan(8000)
    expect(quantile(0.99)).toBeGreaterThan(30_000)
    expect(counts.at(-1)).toBeLessThanOrEqual(5_000_000)
  })

  it('has SPF below DKIM about twice as often as not', () => {
    const mailing = records.filter(({ count, dkim, spf }) => count >= 100 && dkim !== spf)
    const share = mailing.filter(({ dkim, spf }) => spf < dkim).length / mailing.length
    expect(share).toBeGreaterThan(0.6)
    expect(share).toBeLessThan(0.8)
  })

  it('says sp, np, t and pct explicitly as rarely as published', () => {
    const published = records.filter(
      (_, index) => characterOf(SEED, domain(`d${index}.example`)).profile !== 'no-record',
    )
    const share = (holds: (row: DmarcRecord) => boolean) => (published.filter(holds).length / published.length) * 100
    expect(share(({ p, sp }) => sp !== p)).toBeGreaterThan(5)
    expect(share(({ p, sp }) => sp !== p)).toBeLessThan(13)
    expect(share(({ testing }) => testing === 'y')).toBeLessThan(2.5)
    expect(share(({ pct }) => pct < 100)).toBeLessThan(4)
  })
})
