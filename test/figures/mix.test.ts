import { describe, expect, it } from 'vitest'
import type { DmarcRecord } from '../../src/domain/dmarc.ts'
import { characterOf } from '../../src/figures/character.ts'
import { accountOf, domain, recordIn, SEED } from './monitoring.ts'

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
