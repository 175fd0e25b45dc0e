import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MonitoredDomain } from '../../src/domain/account.ts'
import type { PolicyTags } from '../../src/domain/dmarc.ts'
import { describeChange } from '../../src/figures/mail-words.ts'
import { changePolicy, type Fates, type Mail } from '../../src/figures/policy-change.ts'
import { runAtOnce } from '../../src/ground/work.ts'
import { accountOf, domain, RULES, recordIn, TODAY } from './monitoring.ts'

function change(domains: readonly MonitoredDomain[], name: string, tags: PolicyTags) {
  const account = accountOf(domains)
  const each = account.domains.get(name)
  if (each === undefined) throw new Error(`There is no ${name}.`)
  return runAtOnce(changePolicy(account, each, tags, TODAY, RULES))
}

const messagesOf = ({ delivered, quarantined, rejected }: Fates) =>
  [delivered, quarantined, rejected].map(({ messages }) => messages)
const failing = ({ misconfigured, forwarded, forged }: Mail) => misconfigured + forwarded + forged

const attacked = domain('shop.example', { profile: 'spoofed', since: TODAY - 7, volume: 50_000, policy: { p: 'none' } })

const policies = fc.constantFrom('none' as const, 'quarantine' as const, 'reject' as const)

describe('a change of policy', () => {
  it('leaves no message out, delivers what passes, and is the policy of today if it changes nothing (seed 4)', () => {
    fc.assert(
      fc.property(fc.domain(), policies, policies, fc.nat(100), (name, p, sp, pct) => {
        const each = domain(name, { volume: 9000, policy: { p, sp, pct, testing: 'n' } })
        const { count } = recordIn(accountOf([each]), name)
        const { now, itself } = change([each], name, { p, pct })
        expect(now).toMatchObject({ p, pct })
        expect(itself?.changed).toEqual(itself?.now)
        expect(itself?.messages).toBe(count)
        for (const fates of [itself?.now, change([each], name, { p: sp }).itself?.changed]) {
          const all = fates === undefined ? [] : messagesOf(fates)
          expect(all.reduce((sum, messages) => sum + messages, 0)).toBe(count)
          expect([fates?.quarantined.passing, fates?.rejected.passing]).toEqual([0, 0])
          for (const mail of Object.values(fates ?? {}) as Mail[])
            expect(mail.messages).toBe(mail.passing + failing(mail))
        }
      }),
      { seed: 4, numRuns: 30 },
    )
  })

  it.each<[tags: PolicyTags, stopped: 'quarantined' | 'rejected' | undefined]>([
    [{ p: 'quarantine' }, 'quarantined'],
    [{ p: 'reject' }, 'rejected'],
    [{ p: 'reject', testing: 'y' }, 'quarantined'],
    [{ p: 'reject', pct: 0 }, 'quarantined'],
  ])('to %o lets receivers do one thing to all mail that fails: %s', (tags, stopped) => {
    const fates = change([attacked], attacked.name, tags).itself?.changed
    const fail = Object.values(fates ?? {}).reduce((sum, mail) => sum + failing(mail), 0)
    expect(fail).toBeGreaterThan(10_000)
    expect(fates?.[stopped ?? 'delivered'].forged).toBeGreaterThan(10_000)
    for (const fate of ['delivered', 'quarantined', 'rejected'] as const) {
      expect(failing(fates?.[fate] as Mail)).toBe(fate === (stopped ?? 'delivered') ? fail : 0)
    }
  })

  it('with pct applies to this share of the mail that fails, and the next softer policy to the rest', () => {
    const fates = change([attacked], attacked.name, { p: 'reject', pct: 25 }).itself?.changed
    const { rejected, quarantined } = fates as Fates
    expect(rejected.messages / (rejected.messages + quarantined.messages)).toBeCloseTo(0.25, 3)
    expect(failing((fates as Fates).delivered)).toBe(0)
  })

  it('applies the subdomain policy to the domains below that have no own record, and to no others', () => {
    const above = domain('a.example', { profile: 'enforced', volume: 9000, policy: { p: 'none', sp: 'quarantine' } })
    const below = domain('x.a.example', { profile: 'no-record', volume: 5000 })
    const own = domain('y.a.example', { profile: 'enforced', volume: 7000 })
    const fixed = domain('z.a.example', { profile: 'no-record', pin: { count: 7 } })
    const stranger = domain('ba.example', { profile: 'no-record' })
    const all = [above, below, own, fixed, stranger]
    const { count } = recordIn(accountOf(all), below.name)
    const kept = change(all, above.name, { p: 'reject' })
    expect([kept.inheriting, kept.unknown, kept.below.messages]).toEqual([2, 1, count])
    expect(kept.below.now).toEqual(kept.below.changed)
    expect(kept.below.changed.quarantined.messages).toBeGreaterThan(0)
    const given = change(all, above.name, { p: 'reject', sp: 'reject' })
    expect(given.below.changed.rejected.messages).toBe(kept.below.changed.quarantined.messages)
    expect(given.below.changed.quarantined.messages).toBe(0)
  })

  it('is told in words that can be read aloud', () => {
    const reject = change([attacked], attacked.name, { p: 'reject' })
    expect(describeChange(reject, 30, 'received')).toMatchInlineSnapshot(
      `"If the policy were reject, then of its 99,097 messages in the last 30 days, receivers would deliver 47,123 and reject 51,974. Of the 51,974 that would not reach an inbox, 703 are legitimate (forwarded), and 51,271 are forged. Today, with the policy none, receivers deliver all of them."`,
    )
    const none = domain('b.example', { profile: 'no-record' })
    expect(describeChange(change([none], none.name, { p: 'reject' }), 30, 'none')).toMatchInlineSnapshot(
      `"No DMARC record applies, so receivers send no reports, and nobody knows who sends in its name."`,
    )
    const above = domain('a.example', { profile: 'broken-spf', volume: 9000, policy: { p: 'none', sp: 'quarantine' } })
    const below = domain('x.a.example', { profile: 'no-record', volume: 5000 })
    const tested = change([above, below], above.name, { p: 'quarantine', sp: 'none', pct: 50 })
    expect(describeChange(tested, 30, 'received')).toMatchInlineSnapshot(
      `"If the policy were quarantine for 50 % of the mail that fails, then of its 11,416 messages in the last 30 days, receivers would deliver 9,435 and put 1,981 into spam folders. Of the 1,981 that would not reach an inbox, 315 are legitimate (from senders that are not set up well), and 1,666 are forged. Today, with the policy none, receivers deliver all of them. 1 domain below it has no record, so there the policy would be none: of its 4,839 messages, receivers would deliver all of them."`,
    )
  })
})
