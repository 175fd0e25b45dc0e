import fc, { type Arbitrary, type AsyncCommand } from 'fast-check'
import { expect } from 'vitest'
import { carryOut, controlling } from './admin-commands.ts'
import { type Real, send } from './exchange.ts'
import type { Model } from './model.ts'
import { GRACE_END } from './pool.ts'
import { describeRequest, type PlannedRequest, plannedReading, plannedRequest, readingOf } from './requests.ts'

type Command = AsyncCommand<Model, Real>
type WeightedCommand = { arbitrary: Arbitrary<Command>; weight: number }

/** Commands in the proportions in which they are worth sending; those of `more` are rare. */
export function allCommands(more: readonly WeightedCommand[] = []): Arbitrary<Command>[] {
  const copies = fc.integer({ min: 2, max: 5 })
  const usual = fc.oneof(
    { arbitrary: plannedRequest.map((plan) => sending(plan, 1)), weight: 40 },
    { arbitrary: fc.tuple(plannedRequest, copies).map(([plan, count]) => sending(plan, count)), weight: 3 },
    { arbitrary: fc.tuple(plannedReading, fc.nat(2)).map(([plan, left]) => usingUp(plan, left)), weight: 1 },
    { arbitrary: fc.constantFrom(...LEAPS).map(passing), weight: 3 },
    { arbitrary: controlling, weight: 25 },
    ...more,
  )
  return [usual]
}

export function reopening(keeps: { keepsSnapshots: boolean }): Arbitrary<Command> {
  return fc.constant(null).map(() =>
    command('(the service is closed and opened again)', async (model, real) => {
      await real.reopen()
      model.reopen(keeps)
      real.reach('the service was opened again')
    }),
  )
}

function command(name: string, run: Command['run']): Command {
  return { check: () => true, run, toString: () => name }
}

/**
 * Sends copies of one request at the same time. Whichever order the service takes them in, it must answer what it
 * answers to as many in a row.
 */
function sending(plan: PlannedRequest, copies: number): Command {
  const name = `${describeRequest(plan)}${copies > 1 ? ` × ${copies} at once` : ''}`
  return command(name, async (model, real) => void (await send(plan, copies, model, real)))
}

/** Reads until so many requests are left of the quota. */
function usingUp(plan: PlannedRequest, left: number): Command {
  return command(`${describeRequest(plan)} until ${left} are left`, async (model, real) => {
    let [answer] = await send(plan, 1, model, real)
    // A young key may read so often that it is not worth the time.
    if ((answer?.quota?.remaining ?? 0) > 100) return
    while ((answer?.quota?.remaining ?? 0) > left) {
      const copies = Math.min(10, (answer?.quota?.remaining ?? 0) - left)
      answer = (await send(plan, copies, model, real)).at(-1)
    }
  })
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

interface Leap {
  name: string
  from(now: number): number
}

const before = (boundary: number, now: number) => Math.max(0, boundary - 1 - now)
const untilNext = (period: number, now: number) => period - (now % period)

/** Ways for time to pass; most end at, or a millisecond before, a moment at which something changes. */
const LEAPS: readonly Leap[] = [
  { name: '1 ms', from: () => 1 },
  { name: '1 s', from: () => SECOND },
  { name: '1 min', from: () => MINUTE },
  { name: '1 h', from: () => HOUR },
  { name: '8 days', from: () => 8 * DAY },
  { name: 'until the hour', from: (now) => untilNext(HOUR, now) },
  { name: 'until 1 ms before the hour', from: (now) => before(now + untilNext(HOUR, now), now) },
  { name: 'until midnight', from: (now) => untilNext(DAY, now) },
  { name: 'until 1 min before midnight', from: (now) => Math.max(0, untilNext(DAY, now) - MINUTE) },
  { name: 'until 1 ms before midnight', from: (now) => before(now + untilNext(DAY, now), now) },
  { name: 'until the end of the grace period', from: (now) => Math.max(0, GRACE_END - now) },
  { name: 'until 1 ms before the end of the grace period', from: (now) => before(GRACE_END, now) },
]

function passing({ name, from }: Leap): Command {
  return command(`(time passes: ${name})`, async (model, real) => {
    const milliseconds = from(model.now)
    model.now += milliseconds
    real.advance(milliseconds)
  })
}

/** Reads everything that there is and compares it with the model. */
export async function readEverything(model: Model, real: Real): Promise<void> {
  for (const account of model.accounts.values()) {
    for (const operation of ['getAccount', 'exportState', 'listKeys', 'getQuotas', 'listFaults', 'listSnapshots']) {
      await carryOut(account, { operation, parameters: {}, body: undefined }, model, real)
    }
    for (const bucket of ['dmarc', 'domains', 'domaingroups']) {
      await carryOut(account, { operation: 'updateQuota', parameters: {}, body: { bucket, remaining: 1 } }, model, real)
    }
    await carryOut(account, { operation: 'clearFaults', parameters: {}, body: undefined }, model, real)
  }
  for (const authorization of usableKeys(model)) {
    for (const path of ['/dmarc', '/domains', '/domaingroups']) {
      const [answer] = await send(readingOf(path, authorization), 1, model, real)
      expect(answer?.status, `GET ${path}`).toBe(200)
    }
  }
}

/** One key of each account that may use the API. */
function usableKeys(model: Model): string[] {
  const accounts = [...model.accounts.values()].filter(({ hasAccess }) => hasAccess)
  return accounts
    .flatMap(({ keys }) => [...keys].filter(([, { disabled }]) => !disabled).slice(0, 1))
    .map(([key]) => key)
}
