import { expect } from 'vitest'
import type { CoverageReport, Gap } from '../../src/coverage/report.ts'
import type { ObservedService } from '../support/observed-service.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { sendPlanned } from '../support/planned-requests.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Entry extends Gap {
  /** How often it was shown; of a rule and of an edge, once or never. */
  times: number
}

/** Everything of a report that may be a gap, by a name. */
export function entriesOf({ operations, rules, edges }: CoverageReport): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  // Rules come first: what shows them without a key may show an operation's answer as well, which is counted.
  for (const entry of [...rules, ...edges]) entries.set(entry.id, { ...entry, times: entry.seen ? 1 : 0 })
  for (const { operation, responses } of operations) {
    for (const response of responses) {
      const { status, code = 'success', genuine } = response
      entries.set(`${operation} ${status} ${code}`, { ...response, times: genuine })
    }
  }
  return entries
}

/** How often everything was shown, by all requests of the account since it began anew. */
export async function shownIn(service: ObservedService): Promise<Map<string, number>> {
  return new Map([...entriesOf(await reportOf(service))].map(([name, { times }]) => [name, times]))
}

/** The gaps that are not filled by what `fill` does with them, each on an account that begins anew. */
export async function unfilled(service: ObservedService, fill: (gap: Gap) => Promise<unknown>): Promise<string[]> {
  const gaps = [...entriesOf(await reportOf(service))].filter(([, { request }]) => request !== undefined)
  expect(gaps.length).toBeGreaterThan(50)
  const failed: string[] = []
  for (const [name, gap] of gaps) {
    expect((await service.ask('POST', '/accounts/default/reset')).status).toBe(200)
    await fill(gap)
    if (((await shownIn(service)).get(name) ?? 0) === 0) failed.push(name)
  }
  return failed
}

/** Fails unless every gap has a request that fills it. */
export async function expectFilled(service: ObservedService): Promise<void> {
  expect(hinted(await reportOf(service))).toEqual([])
  expect(await unfilled(service, ({ request = [] }) => sendPlanned(service, request))).toEqual([])
}

export function hinted(report: CoverageReport): string[] {
  return [...entriesOf(report)].flatMap(([name, { hint }]) => (hint === undefined ? [] : [name]))
}

/** The path of a file with an overlay of these actions. */
export function overlayFile(actions: readonly object[]): string {
  return writeOverlay(temporaryFolder(), actions)
}

export async function reportOf(service: ObservedService): Promise<CoverageReport> {
  return (await service.ask('GET', '/accounts/default/coverage')).body.data
}
