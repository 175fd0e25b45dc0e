import { expect } from 'vitest'
import { operationAt, type TestResponse, type TestService } from '../service.ts'
import type { Account } from './account.ts'
import { overlapping } from './bodies.ts'
import type { Expected } from './expected.ts'
import { holdReading, type Reading } from './figures.ts'
import type { Model } from './model.ts'
import { type PlannedRequest, settleRequest } from './requests.ts'

/** The service under test. */
export interface Real {
  service: TestService
  /** Moves the machine's clock forward, in milliseconds. */
  advance(milliseconds: number): void
  /** Ends the service and starts it on what it kept. */
  reopen(): Promise<void>
  /** Notes that a situation was reached. */
  reach(situation: string): void
  /** Of the answers to authenticated requests so far. */
  readonly requestIds: Set<string>
  /** The last answer of GET /dmarc to each account. */
  readonly readings: Map<Account, Reading>
}

const DAY = 86_400_000

/**
 * Sends copies of a request at the same time and holds every answer to the model: whichever copy the service takes
 * first, it must answer what it answers to as many in a row. Returns what was expected.
 */
export async function send(plan: PlannedRequest, copies: number, model: Model, real: Real): Promise<Expected[]> {
  const { target, request } = settleRequest(plan, model)
  const { contentType, content } = copies > 1 ? overlapping(plan.body) : plan.body
  const headers = { authorization: plan.authorization ?? null, 'content-type': contentType ?? null }
  const once = () => real.service.send(plan.method, target, content, headers)
  const responses = await Promise.all(Array.from({ length: copies }, once))
  const expected = responses.map(() => model.play(request))

  // The copy that was charged first need not be the one that was carried out first.
  expect(responses.map(quotaOf).toSorted()).toEqual(expected.map(writeQuota).toSorted())
  const wanted = sortBy(expected, writeOutcome)
  const received = sortBy(responses, outcomeOf)
  for (const [index, response] of received.entries()) {
    const answer = wanted[index]
    if (answer !== undefined) holdTo(answer, response, plan, model, real)
  }
  return expected
}

function holdTo(expected: Expected, response: TestResponse, plan: PlannedRequest, model: Model, real: Real): void {
  const { method, path, authorization } = plan
  const account = model.accountOf(authorization)
  if (expected.quota !== undefined) {
    const id = response.headers['x-request-id'] ?? ''
    expect(real.requestIds.has(id), `The request id ${id} was used before`).toBe(false)
    real.requestIds.add(id)
  }
  if (method === 'HEAD') {
    expect({ status: response.status, text: response.text }).toEqual({ status: expected.status, text: '' })
    return
  }
  expect(outcomeOf(response)).toBe(writeOutcome(expected))
  const operation = operationAt(real.service.contract, method, path)
  real.reach(`${operation?.id ?? 'no operation'} ${writeOutcome(expected)}`)
  for (const parameter of plan.query) {
    if ('of' in parameter) real.reach(`${parameter.of}: ${writeOutcome(expected)}`)
  }
  if (expected.turn !== undefined) real.reach(expected.turn)
  expect(response.headers['allow']?.split(', ').toSorted()).toEqual(expected.allow?.toSorted())

  const { data } = response.body
  if (expected.records !== undefined) {
    if (account !== undefined) {
      const day = Math.floor(account.clock(model.now) / DAY)
      const reading = { day, version: account.version, expected: expected.records, data, text: response.text }
      holdReading(reading, real.readings.get(account), real.reach)
      real.readings.set(account, reading)
    }
  } else if (expected.created !== undefined) {
    account?.nameGroup(expected.created, data.group.id)
    expect(data).toEqual({ group: expected.created })
  } else {
    expect(data).toEqual(expected.data)
  }
}

function outcomeOf({ status, body }: TestResponse): string {
  return `${status} ${body?.success === false ? body.error.code : ''}`.trim()
}

function writeOutcome({ status, code = '' }: Expected): string {
  return `${status} ${code}`.trim()
}

function quotaOf({ headers }: TestResponse): string {
  return ['limit', 'remaining', 'reset'].map((name) => `${name} ${headers[`x-ratelimit-${name}`]}`).join(', ')
}

function writeQuota({ quota }: Expected): string {
  return `limit ${quota?.limit}, remaining ${quota?.remaining}, reset ${quota?.reset}`
}

function sortBy<Value>(values: readonly Value[], textOf: (value: Value) => string): Value[] {
  return values.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : Number(textOf(one) > textOf(other))))
}
