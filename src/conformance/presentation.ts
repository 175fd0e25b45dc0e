import { type Assignment, assignmentsOf } from '../choices/observation.ts'
import { type Permitted, same } from '../choices/permitted.ts'
import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { CLIENT_REQUEST_ID } from '../contract/response-headers.ts'
import { UUID } from '../contract/schema-compiler.ts'
import type { Problem } from '../domain/errors.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { RealDate } from '../ground/timers.ts'
import { redactKeys } from '../journal/redaction/key-shapes.ts'
import { isPermittedPreflight } from './contract-problems.ts'
import { type ExchangeFindings, FindingCollector, type FindingDraft } from './exchange-findings.ts'
import { acceptsNotation, isToldApart, numbersIn } from './number-format.ts'
import { expectsQuota, type QuotaCircumstances, situationOf } from './quota-situation.ts'

export interface Presentation extends ExchangeFindings {
  /** The human-readable text of the response, and the code or `operationId` that it belongs to. */
  message?: { of: string; text: string }
}

/**
 * What the form of one response says about assumptions: statuses, header fields, texts and formats. The outcome is
 * given. An observation allows every alternative under which the response could look like this; `fixed` are the choices
 * that are certain already. If none fits, the finding is `another choice` where the specification leaves the form open,
 * and `unexplained` elsewhere. `findContractProblems` reports what the contract forbids.
 */
export function observePresentation(
  reading: ReadExchange,
  circumstances: QuotaCircumstances,
  permitted: Permitted,
  fixed: Assignment,
): Presentation {
  const observer = new FieldObserver(reading, permitted, fixed)
  observeStatus(observer, circumstances.problems)
  observeData(observer)
  if (Object.keys(reading.response.headers).length > 0) {
    observeFixedHeaders(observer)
    observeQuotaHeaders(observer, circumstances)
    observeReset(observer)
    observeType(observer)
    observeRequestId(observer)
    observeCors(observer)
  }
  const message = messageOf(reading)
  if (message !== undefined) observeMessage(observer, message.text)
  return { ...observer.all, ...(message && { message: { ...message, text: redactKeys(message.text) } }) }
}

/** Collects what the form of one response shows. */
class FieldObserver extends FindingCollector {
  get headers(): ReadExchange['response']['headers'] {
    return this.reading.response.headers
  }

  /** Whether the service may have answered before it looked at the request, or because it failed. */
  get isExceptional(): boolean {
    const { outcome, response, failed } = this.reading
    if (failed !== undefined) return true
    return outcome.kind === 'refusal' && this.permitted.isRefusedUnread(outcome.code, response.status)
  }
}

/** How many combinations of alternatives are compared at once. */
const COMBINATIONS = 512

function observeStatus(observer: FieldObserver, problems: readonly Problem<string>[]): void {
  const { reading, permitted } = observer
  const { outcome, operation, response } = reading
  const { status } = response
  if (outcome.kind === 'success' && operation !== undefined) {
    const deciding = permitted.deciding(`success status of ${operation.id}`, (contract) => {
      return same(contract, operation)?.success.status ?? 0
    })
    observer.observe(deciding, (expected: number) => expected === status)
  }
  if (outcome.kind !== 'refusal') return
  const tables = problems
    .map((problem) => permitted.answersTo(problem))
    .filter((table) => table?.rows.some(({ answer }) => answer.code === outcome.code))
  const ids = [...new Set(tables.flatMap((table) => table?.ids ?? []))]
  const numbers = ids.map((id) => [id, permitted.numbersOf(id)] as const)
  if (tables.length === 0 || numbers.reduce((size, [, each]) => size * each.length, 1) > COMBINATIONS) return
  const all = assignmentsOf(numbers)
  const allowed = all.filter((assignment) =>
    tables.some((table) =>
      table?.rows.some((row) => {
        const isRow = table.ids.every((id) => row.assignment[id] === assignment[id])
        return isRow && row.answer.code === outcome.code && row.answer.status === status
      }),
    ),
  )
  const expected = [...permitted.statusesOf(outcome.code)]
  const isForbidden = operation !== undefined && !expected.includes(status)
  observer.allow(
    allowed,
    all.length,
    isForbidden
      ? undefined
      : {
          label: status >= 400 ? 'another choice' : 'unexplained',
          what: `status/${outcome.code}`,
          message: `The code ${show(outcome.code)} comes with the status ${status}, which no alternative gives to this request. The specification shows no status.`,
        },
  )
}

/** Under which alternatives the data obeys the schemas, and how its numbers are written. */
function observeData(observer: FieldObserver): void {
  const { reading, permitted } = observer
  const { outcome, operation } = reading
  if (outcome.kind !== 'success' || operation === undefined) return
  const body = outcome.envelope
  for (const deciding of permitted.checksByAssumption(operation)) {
    observer.observe([deciding], (isValid: (body: unknown) => boolean) => isValid(body))
  }
  const numbers = numbersIn(outcome.text, body, operation)
  if (numbers.length === 0) return
  const notation = permitted.deciding('notation of percentages', ({ settings }) => settings.decimals)
  const precision = permitted.deciding('precision of percentages', ({ percentageStep }) => percentageStep)
  if (notation.length === 1 && precision.length === 1) {
    observer.observe([...notation, ...precision], (decimals: string, step: number) =>
      acceptsNotation(numbers, decimals, step),
    )
  }
  const steps = permitted.union('steps of percentages', ({ percentageStep }) => [percentageStep])
  observer.observe(precision, (step: number) => !isToldApart(numbers, step, steps))
}

/** Checks the header fields that the document fixes for a refusal, and Retry-After. */
function observeFixedHeaders(observer: FieldObserver): void {
  const { reading, permitted, headers } = observer
  const { outcome, response } = reading
  const operation = reading.operation ?? permitted.contract.operations[0]
  if (outcome.kind !== 'refusal' || operation === undefined) return
  const { code } = outcome
  const { status } = response
  const documented = (contract: Contract) => {
    const found = same(contract, operation)?.responses.get(status)
    return found?.codes.has(code) ? found : undefined
  }
  const chosen = documented(permitted.contract)
  // Undocumented responses are not kept in the cache, because their number has no limit.
  if (chosen === undefined) return
  const refusal = `${operation.id} ${status} ${code}`
  const names = permitted.union(`headers of ${refusal}`, (each) => Object.keys(documented(each)?.constantHeaders ?? {}))
  for (const name of names) {
    const deciding = permitted.deciding(`${name} of ${refusal}`, (contract) => {
      return (documented(contract) ?? chosen).constantHeaders[name] ?? ''
    })
    const value = headers[name.toLowerCase()]
    observer.observe(deciding, (fixed: string) => fixed === (value ?? ''), {
      label: 'another choice',
      what: `headers/${name.toLowerCase()}`,
      message: `The header ${name} is ${show(value)}, as in no alternative of openapi.yaml. The specification does not mention it.`,
    })
  }
  if (reading.operation === undefined) return
  const retrying = permitted.deciding(`Retry-After of ${operation.id} ${code}`, (contract) => {
    const responses = [...(same(contract, operation)?.responses.values() ?? [])]
    return responses.some(({ codes, retryAfter }) => retryAfter && codes.has(code))
  })
  observer.observe(retrying, (shown: boolean) => shown === (headers['retry-after'] !== undefined))
}

/** Which responses have the fields about the quota. */
function observeQuotaHeaders(observer: FieldObserver, circumstances: QuotaCircumstances): void {
  const { reading, permitted, headers } = observer
  if (observer.isExceptional) return
  const situation = situationOf(reading, circumstances)
  if (situation === undefined) return
  const isShown = headers['x-ratelimit-limit'] !== undefined
  const shown = permitted.deciding('quota headers', ({ settings }) => settings.quotaHeaders)
  const order = permitted.deciding('order of plan and quota', ({ settings: { gateOrder } }) => {
    return gateOrder.indexOf('quota') < gateOrder.indexOf('plan')
  })
  const unlisted: FindingDraft = {
    label: 'another choice',
    what: 'headers/x-ratelimit-limit',
    message: `The headers about the quota are ${isShown ? 'there' : 'missing'}, as in no alternative of openapi.yaml. The specification does not say which refusals have them.`,
  }
  if (situation === 'plan' && order.length === 1) {
    observer.observe(
      [...shown, ...order],
      (setting: Contract['settings']['quotaHeaders'], isQuotaFirst: boolean) =>
        expectsQuota(setting, isQuotaFirst ? 'charged' : 'plan') === isShown,
      unlisted,
    )
  } else if (situation !== 'plan') {
    observer.observe(
      shown,
      (setting: Contract['settings']['quotaHeaders']) => (expectsQuota(setting, situation) ?? isShown) === isShown,
      unlisted,
    )
  }
}

/** How far the clocks of a service may differ from each other, in seconds. */
const SKEW = 120

function observeReset(observer: FieldObserver): void {
  const { reading, permitted, headers } = observer
  const { operation, route } = reading
  const { quota } = operation ?? (route.ok ? undefined : route.neighbour) ?? {}
  const text = headers['x-ratelimit-reset']
  if (quota === undefined || text === undefined || !/^\d+$/.test(text)) return
  const reset = Number(text)
  const date = dateOf(reading)
  // A window that starts within a second ends after that second.
  const isSeconds = reset <= quota.window + 1
  const isTime = date === undefined ? reset >= 1e9 : reset >= date - SKEW && reset <= date + quota.window + SKEW
  if (date === undefined && !isSeconds && !isTime) return
  const deciding = permitted.deciding('meaning of the reset', ({ settings }) => settings.rateLimitReset)
  observer.observe(deciding, (meaning: string) => (meaning === 'unix-time' ? isTime : isSeconds), {
    label: 'unexplained',
    what: 'headers/x-ratelimit-reset',
    message: `X-RateLimit-Reset is ${text}, which is neither a time within the window nor the seconds that are left of it.`,
  })
}

/** When the response was sent by the clock of the service, in Unix seconds. */
export function dateOf({ response: { headers } }: Pick<ReadExchange, 'response'>): number | undefined {
  const date = RealDate.parse(headers['date'] ?? '')
  return Number.isNaN(date) ? undefined : date / 1000
}

function observeType(observer: FieldObserver): void {
  const { permitted, headers } = observer
  const type = plainType(headers['content-type'] ?? '')
  if (!type.startsWith('application/json')) return
  const deciding = permitted.deciding('type of responses', ({ settings }) => plainType(settings.responseType))
  observer.observe(deciding, (expected: string) => expected === type, {
    label: 'another choice',
    what: 'headers/content-type',
    message: `The Content-Type ${show(headers['content-type'])} is that of no alternative, and the specification leaves it open.`,
  })
}

/** The media type without differences that have no meaning (RFC 9110 §8.3.1). */
function plainType(type: string): string {
  return type.toLowerCase().replaceAll(/[\s"]/g, '')
}

const CLIENT_ID = new RegExp(CLIENT_REQUEST_ID)
const OWN_IDS = {
  uuid: UUID,
  hex: /^[0-9a-f]{32}$/,
} as const

function observeRequestId(observer: FieldObserver): void {
  const { reading, permitted, headers } = observer
  const id = headers['x-request-id']
  const asked = reading.exchange.request.headers['x-request-id']
  if (id === undefined) return
  const isEchoed = id === asked
  const canBeEchoed = asked !== undefined && CLIENT_ID.test(asked) && redactKeys(asked) === asked
  if (canBeEchoed && (isEchoed || !observer.isExceptional)) {
    const echo = permitted.deciding('ids of clients', ({ settings }) => settings.clientRequestIds)
    observer.observe(echo, (setting: string) => (setting === 'echoed') === isEchoed)
  }
  if (isEchoed || !CLIENT_ID.test(id)) return
  const format = permitted.deciding('format of request ids', ({ requestIds }) => requestIds)
  observer.observe(format, (expected: keyof typeof OWN_IDS) => OWN_IDS[expected].test(id), {
    label: 'another choice',
    what: 'headers/x-request-id',
    message: `The X-Request-Id ${show(id)} has the form of no alternative, and the specification leaves its form open.`,
  })
}

function observeCors(observer: FieldObserver): void {
  const { reading, permitted, headers } = observer
  const { method, headers: sent } = reading.exchange.request
  const origin = headers['access-control-allow-origin']
  // The document says nothing about other origins than that of the page, or about a list of allowed origins.
  if (origin !== undefined && origin !== '*') return
  const isPreflight = method === 'OPTIONS' && isPermittedPreflight(reading, permitted)
  if (origin === undefined && (observer.isExceptional || sent['origin'] === undefined)) return
  if (reading.outcome.kind === 'unreadable' && method !== 'HEAD' && !isPreflight) return
  const deciding = permitted.deciding('pages of other origins', ({ settings }) => settings.cors)
  observer.observe(deciding, (setting: string) => (setting === 'any-origin') === (origin === '*'))
}

function messageOf({ outcome, operation }: ReadExchange): { of: string; text: string } | undefined {
  if (outcome.kind === 'refusal') return { of: outcome.code, text: outcome.message }
  if (outcome.kind !== 'success' || operation === undefined || !isObject(outcome.data)) return undefined
  const text = outcome.data['message']
  return typeof text === 'string' ? { of: operation.id, text } : undefined
}

/** Whether the document names the text of a success. Any other text is no failure. */
function observeMessage(observer: FieldObserver, text: string): void {
  const { reading, permitted } = observer
  const { outcome, operation } = reading
  if (outcome.kind !== 'success' || operation === undefined) return
  const deciding = permitted.deciding(`message of ${operation.id}`, (contract) => messageIn(contract, operation))
  observer.observe(deciding, (expected: string) => expected === text)
}

function messageIn(contract: Contract, operation: Operation): string {
  const message = same(contract, operation)?.success.defaults?.['message']
  return typeof message === 'string' ? message : ''
}
