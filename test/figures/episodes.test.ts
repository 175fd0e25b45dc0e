import { describe, expect, it } from 'vitest'
import { characterOf, episodesOf, publishedTags } from '../../src/figures/character.ts'
import type { EpisodeKind } from '../../src/figures/episodes.ts'
import { accountOf, domain, recordIn, rulesWith, SEED, TODAY } from './monitoring.ts'

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

  it('have something to tell, but not always', () => {
    const eventful = found.filter((episodes) => episodes.length > 0).length
    expect(eventful).toBeGreaterThan(NAMES.length * 0.6)
    expect(eventful).toBeLessThan(NAMES.length * 0.95)
  })

  it('sign each new sender in the end', () => {
    for (const episodes of found) {
      for (const { kind, until, strength } of episodes) {
        if (kind !== 'new-sender' || until >= TODAY + 180) continue
        expect(episodes).toContainEqual(expect.objectContaining({ kind: 'signed-sender', from: until, strength }))
      }
    }
  })

  it('are as usual on all other days', () => {
    const oneDay = rulesWith({ countPeriod: 1 })
    for (const [index, name] of NAMES.slice(0, 10).entries()) {
      const account = accountOf([domain(name, { profile: 'enforced', since: TODAY, volume: 300_000 })])
      for (let day = TODAY; day < TODAY + 150; day++) {
        if (found[index]?.some(({ from, until }) => from <= day && day < until)) continue
        // The record of a day counts the mail of the day before it.
        expect(recordIn(account, name, day + 1, oneDay).dmarc, `${name} on day ${day}`).toBeGreaterThan(95)
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
    [
      'no sp, np, t or pct for parked domains',
      ({ profile, tags }) => profile === 'parked' && Object.keys(tags).length > 1,
    ],
    ['no sp that repeats p', ({ tags: { p, sp } }) => sp === p],
    ['no np that repeats sp', ({ tags: { p, sp = p, np } }) => np === sp],
    [
      'no sp and np in the record of a subdomain',
      ({ name, tags }) => name.startsWith('mail.') && (tags.sp ?? tags.np) !== undefined,
    ],
  ])('have %s', (_, isAbsurd) => {
    expect(published.filter(isAbsurd)).toEqual([])
  })

  it('have each of them somewhere', () => {
    for (const tag of ['sp', 'np', 'testing', 'pct'] as const) {
      expect(
        published.some(({ tags }) => tags[tag] !== undefined),
        tag,
      ).toBe(true)
    }
  })
})
