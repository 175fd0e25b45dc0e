import { expect } from 'vitest'
import { operationAt, type TestResponse, type TestService } from '../support/service.ts'
import type { Account } from './account.ts'
import { learnGroups, resend } from './admin-plane.ts'
import { overlapping } from './bodies.ts'
import type { Expected } from './expected.ts'
import { holdReading, type Memory, type Reading } from './figures.ts'
import type { Model } from './model.ts'
import { type PlannedRequest, settleKey, settleRequest } from './requests.ts'

/** The service under test. */
export interface Real {
  service: TestService
  /** Moves the machine's clock forward, in milliseconds. */
  advance(milliseconds: number): void
  /** Ends the service and starts it on what it kept. */
  reopen(): Promise<void>
  /** Notes that a situation was reached. */
  reach(situation: string): void
  /** Of the answers to authenticated requests so far, by account and its beginning. */
  readonly requestIds: Map<string, Set<string>>
  /** The last answer of GET /dmarc to each account. */
  readonly readings: Map<Account, Reading>
  /** Of GET /dmarc and of request ids, by all that they may depend on. */
  readonly records: Memory
}

const DAY = 86_400_000

/**
 * Sends copies of a request at the same time and holds every answer to the model: whichever copy the service takes
 * first, it must answer what it answers to as many in a row. Returns what was expected.
 */
export async function send(planned: PlannedRequest, copies: number, model: Model, real: Real): Promise<Expected[]> {
  const plan = { ...planned, authorization: settleKey(planned.authorization, model) }
  const { target, request } = settleRequest(plan, model)
  // Of several at once, the one that a rule strikes need not be the one that is carried out first.
  const number = model.isUnderFaults(plan.authorization) ? 1 : copies
  const { contentType, content } = number > 1 ? overlapping(plan.body) : plan.body
  const headers = { authorization: plan.authorization ?? null, 'content-type': contentType ?? null }
  const once = () => resend(() => real.service.send(plan.method, target, content, headers))
  const responses = await Promise.all(Array.from({ length: number }, once))
  const expected = responses.map(() => model.play(request))

  // The copy that was charged first need not be the one that was carried out first.
  expect(responses.map(quotaOf).toSorted()).toEqual(expected.map(writeQuota).toSorted())
  const wanted = sortBy(expected, writeOutcome)
  const received = sortBy(responses, outcomeOf)
  for (const [index, response] of received.entries()) {
    const answer = wanted[index]
    if (answer === undefined) continue
    holdRequestId(answer, response, number === 1, model.accountOf(plan.authorization), real)
    holdTo(answer, response, plan, model, real)
    if (answer.hidden !== undefined) await learnGroups(model.accountOf(plan.authorization), model, real)
  }
  return expected
}

/** Ids are never used twice, but begin again when the account does. */
function holdRequestId(
  { ordinal }: Expected,
  { headers }: TestResponse,
  isOrdered: boolean,
  account: Account | undefined,
  { requestIds, records }: Real,
): void {
  if (ordinal === undefined || account === undefined) return
  const id = headers['x-request-id'] ?? ''
  const beginning = `${account.id} ${account.beginnings}`
  const ids = requestIds.get(beginning) ?? new Set()
  requestIds.set(beginning, ids)
  expect(ids.has(id), `The request id ${id} was used before`).toBe(false)
  ids.add(id)
  if (!isOrdered) return
  const place = `request ${ordinal} of ${account.id} with seed ${account.contents.seed}`
  expect(records.get(place) ?? id, `The id of ${place}`).toBe(id)
  records.set(place, id)
}

function holdTo(expected: Expected, response: TestResponse, plan: PlannedRequest, model: Model, real: Real): void {
  const { method, path, authorization } = plan
  const account = model.accountOf(authorization)
  if (method === 'HEAD') {
    expect({ status: response.status, text: response.text }).toEqual({ status: expected.status, text: '' })
    return
  }
  expect(outcomeOf(response)).toBe(writeOutcome(expected))
  if (expected.turn !== undefined) real.reach(expected.turn)
  if (expected.injected === true) return
  const operation = operationAt(real.service.contract, method, path)
  real.reach(`${operation?.id ?? 'no operation'} ${writeOutcome(expected)}`)
  for (const parameter of plan.query) {
    if ('of' in parameter) real.reach(`${parameter.of}: ${writeOutcome(expected)}`)
  }
  expect(response.headers['allow']?.split(', ').toSorted()).toEqual(expected.allow?.toSorted())

  const { data } = response.body
  if (expected.records !== undefined) {
    if (account === undefined) return
    const day = Math.floor(account.clock(model.now) / DAY)
    const reading = { day, expected: expected.records, data, text: response.text }
    holdReading(reading, real.readings.get(account), real.records, real.reach)
    real.readings.set(account, reading)
    // As long as no domain changes, the day has one answer, to the byte.
    const place = `domains ${account.contents.version} on day ${day}`
    expect(real.records.get(place) ?? response.text, `The answer for ${place}`).toBe(response.text)
    real.records.set(place, response.text)
  } else if (expected.created !== undefined) {
    account?.nameGroup(expected.created, data.group.id, model.groupIds)
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
