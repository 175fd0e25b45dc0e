import type { AccountState } from '../domain/account.ts'
import { COUNT_PERIOD, type DmarcRecord, decimalsOf, refreshDay } from '../domain/dmarc.ts'
import { characterOf } from '../figures/character.ts'
import { dmarcRecords, type FigureRules } from '../figures/figures.ts'
import { plural } from '../ground/plural.ts'

const WIDTH = 40

/** Draws text charts of an account for a person: profiles, policies, volumes and group sizes. */
export function drawAccount(title: string, account: AccountState, now: number, rules: FigureRules): string {
  const { domains, groups, keys, plan, seed } = account
  const records = dmarcRecords(account, refreshDay(now, rules.settings.refresh), rules)
  const inUse = [...domains.values()].filter(({ features }) => features.length > 0).length
  const sizes = [...groups.values()].map(({ name, domains }): [string, number] => [name, domains.length])
  return [
    `${title}: ${plural(domains.size, 'domain')} (${inUse} in use by a feature), ${plural(groups.size, 'group')}, ${plural(keys.length, 'key')}, plan ${plan}, seed ${seed}`,
    chart('Profiles', tally([...domains.values()].map((domain) => characterOf(seed, domain).profile))),
    chart('Policies (p)', tally(records.map(({ p }) => p || 'no record'))),
    chart('DMARC alignment of domains with mail', alignments(records)),
    chart(`Messages in ${COUNT_PERIOD} days`, volumes(records)),
    chart('Largest groups', sizes.toSorted(([, one], [, other]) => other - one).slice(0, 10)),
  ].join('\n\n')
}

/** The DMARC records of an account as CSV (RFC 4180). */
export function writeTable(records: readonly DmarcRecord[], step: number): string {
  const decimals = decimalsOf(step)
  const shares = new Set(['dmarc', 'dkim', 'spf'])
  const columns = ['domain', 'p', 'sp', 'np', 'pct', 'testing', 'dmarc', 'dkim', 'spf', 'count'] as const
  const rows = records.map((record) =>
    columns.map((name) => (shares.has(name) ? Number(record[name]).toFixed(decimals) : record[name])),
  )
  return `${[columns, ...rows].map((row) => row.join(',')).join('\r\n')}\r\n`
}

function alignments(records: readonly DmarcRecord[]): [string, number][] {
  const mailing = records.filter(({ count }) => count > 0)
  const bands: [string, number, number][] = [
    ['97–100 %', 97, 101],
    ['85–97 %', 85, 97],
    ['40–85 %', 40, 85],
    ['0–40 %', 0, 40],
  ]
  return bands.map(([name, low, high]) => [name, mailing.filter(({ dmarc }) => dmarc >= low && dmarc < high).length])
}

function volumes(records: readonly DmarcRecord[]): [string, number][] {
  const bands = [0, 10, 100, 1000, 10_000, 100_000]
  return [
    ['none', records.filter(({ count }) => count === 0).length],
    ...bands.map((low, index): [string, number] => {
      const high = bands[index + 1] ?? Number.POSITIVE_INFINITY
      const name = high === Number.POSITIVE_INFINITY ? `${low} and more` : `${Math.max(1, low)} to ${high - 1}`
      return [name, records.filter(({ count }) => count >= Math.max(1, low) && count < high).length]
    }),
  ]
}

function tally(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].toSorted(([, one], [, other]) => other - one)
}

function chart(title: string, rows: readonly (readonly [string, number])[]): string {
  if (rows.length === 0) return `${title}\n  (none)`
  const label = Math.max(...rows.map(([name]) => name.length))
  const most = Math.max(1, ...rows.map(([, count]) => count))
  const digits = String(most).length
  const lines = rows.map(
    ([name, count]) =>
      `  ${name.padEnd(label)}  ${String(count).padStart(digits)}  ${'█'.repeat(Math.round((count / most) * WIDTH))}`,
  )
  return `${title}\n${lines.map((line) => line.trimEnd()).join('\n')}`
}
