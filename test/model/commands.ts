import fc, { type Arbitrary, type AsyncCommand } from 'fast-check'
import { expect } from 'vitest'
import { weighted } from '../support/weighted.ts'
import { DAY, HOUR } from './account.ts'
import { controlCommands } from './control-commands.ts'
import type { Event } from './places.ts'
import { BEGINNING } from './pool.ts'
import { describeRequest, type PlannedRequest, plannedReading, plannedRequest, readingOf } from './requests.ts'
import type { Run } from './run.ts'
import type { World } from './world.ts'

export type Command = AsyncCommand<World, Run>

export function command(name: string, run: (run: Run) => Promise<void>): Command {
  return { check: () => true, run: (_, real) => run(real), toString: () => name }
}

/** Commands in the proportions in which they are worth sending. */
export function allCommands(events: readonly Event[]): Arbitrary<Command> {
  const copies = fc.integer({ min: 2, max: 4 })
  const turns = fc.constantFrom(1, 30, 100, 300, 1_000)
  return weighted<Command>(
    [40, plannedRequest.map(sending)],
    [2, fc.tuple(plannedRequest, copies).map(([plan, count]) => sendingAtOnce(plan, count))],
    [1, fc.tuple(plannedReading, fc.nat(2)).map(([plan, left]) => usingUp(plan, left))],
    [3, fc.constantFrom(...LEAPS).map(passing)],
    [30, controlCommands],
    ...(events.length > 0 ? [[1, fc.constantFrom(...events).map(restarting)] as const] : []),
    [events.includes('loss') ? 1 : 0, fc.tuple(plannedRequest, turns).map(([plan, count]) => losing(plan, count))],
  )
}

function losing(plan: PlannedRequest, turns: number): Command {
  const name = `(a loss ${turns} turns after the beginning of ${describeRequest(plan)})`
  return command(name, (run) => run.loseDuring(plan, turns))
}

function sending(plan: PlannedRequest): Command {
  return command(describeRequest(plan), async (run) => void (await run.send(plan)))
}

function sendingAtOnce(plan: PlannedRequest, copies: number): Command {
  return command(`${describeRequest(plan)} × ${copies} at once`, (run) => run.sendTogether(plan, copies))
}

/** Reads until so many requests are left of the quota; not with a young key, which may read very often. */
function usingUp(plan: PlannedRequest, left: number): Command {
  return command(`${describeRequest(plan)} until ${left} are left`, async (run) => {
    for (let sent = 0; sent < 100; sent++) {
      const { headers } = await run.send(plan)
      const remaining = Number(headers.find(([name]) => name === 'X-RateLimit-Remaining')?.[1] ?? 0)
      if (remaining <= left || remaining > 100) return
    }
  })
}

function restarting(event: Event): Command {
  return command(event === 'stop' ? '(a stop and a start)' : '(a loss and a start)', (run) => run.restart(event))
}

interface Leap {
  name: string
  from(now: number): number
}

/** The end of the grace period of the key `young`. */
export const GRACE_END = BEGINNING + 45 * 60_000
const before = (boundary: number, now: number) => Math.max(0, boundary - 1 - now)
const untilNext = (period: number, now: number) => period - (now % period)

/** Ways for time to pass; most end at, or a millisecond before, a moment at which something changes. */
const LEAPS: readonly Leap[] = [
  { name: '1 ms', from: () => 1 },
  { name: '1 min', from: () => 60_000 },
  { name: '1 h', from: () => HOUR },
  { name: '8 days', from: () => 8 * DAY },
  { name: 'until the hour', from: (now) => untilNext(HOUR, now) },
  { name: 'until 1 ms before the hour', from: (now) => before(now + untilNext(HOUR, now), now) },
  { name: 'until midnight', from: (now) => untilNext(DAY, now) },
  { name: 'until 1 ms before midnight', from: (now) => before(now + untilNext(DAY, now), now) },
  { name: 'until the end of the grace period', from: (now) => Math.max(0, GRACE_END - now) },
  { name: 'until 1 ms before the end of the grace period', from: (now) => before(GRACE_END, now) },
]

function passing({ name, from }: Leap): Command {
  return command(`(time passes: ${name})`, async ({ world }) => {
    if (!world.isStanding) world.now += from(world.now)
  })
}

/** Looks at all that there is, and uses one key of each account. */
export async function lookAtEverything(run: Run): Promise<void> {
  const { world } = run
  await run.lookAround()
  for (const held of world.accounts.values()) {
    await run.look(held)
    await run.control('DELETE', `/accounts/${held.id}/faults`)
    held.life.faults = []
    const key = held.account.keys.find(({ disabled }) => !disabled)
    if (key === undefined || !held.account.hasAccess) continue
    for (const path of ['/domains', '/dmarc', '/domaingroups']) {
      const { status } = await run.send(readingOf(path, `Bearer ${key.secret}`))
      expect([200, 429]).toContain(status)
    }
  }
}
