import { judge } from '../behaviour/judge.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import type { PlannedRequest } from '../behaviour/planned-request.ts'
import { Rehearsal, SampleRefused } from '../behaviour/rehearsal.ts'
import type { AccountState } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import { includesApiAccess } from '../domain/settings.ts'
import type { Json } from '../ground/json.ts'
import { spelt } from '../ground/show.ts'
import { firstValues, type Parameters, writeQuery } from '../ground/target.ts'
import { bytesOf, type Entry, fieldOf, isUnread } from '../journal/entry.ts'
import { type BodyDraft, correctBody } from './body-correction.ts'
import { correctQuery } from './query-correction.ts'
import { correctRoute } from './route-correction.ts'
import { readSentBody, type SentContent } from './sent-body.ts'

/** A request as the journal has it. If a long body was cut, the correction uses its beginning. */
export type RefusedRequest = Pick<Entry, 'method' | 'target' | 'headers' | 'body'>

export interface Correction {
  /** The requests that are sent before it, in this order. */
  before: readonly PlannedRequest[]
  request: PlannedRequest
  /** The changes, one short sentence each. */
  changes: readonly string[]
}

/** The most changes that are listed. A body may have thousands of wrong entries. */
const LISTED = 30
/** This is more than any request needs. Each pass corrects one kind of problem. */
const PASSES = 24

/**
 * The accepted request that is nearest to one that the service refused for `problems`. `account` is the present
 * account. The function changes nothing. The judge has checked the correction. `undefined` if even an example is refused.
 */
export function correctRequest(
  request: RefusedRequest,
  problems: readonly Problem<string>[],
  account: AccountState,
  contract: ServiceContract,
): Correction | undefined {
  const { method, target, headers } = request
  const body = request.body === undefined || isUnread(request.body) ? undefined : bytesOf(request.body)
  const route = correctRoute(method, target, body !== undefined && body.length > 0, contract)
  const { operation } = route
  const content = correctContent({ ...route, headers, body }, account, contract) ?? exampleOf()
  if (content === undefined) return undefined
  const admission = admit(request, problems, account, contract)
  const path = operation.path + writeQuery(content.parameters)
  const changes = [...admission.changes, ...route.changes, ...content.changes]
  const listed = changes.slice(0, LISTED)
  if (listed.length < changes.length) listed.push(`${changes.length - listed.length} more changes are not listed.`)
  const steps = content.steps.map((step) => (step.plane === 'service' ? { ...step, key: 'valid' as const } : step))
  const isLimited = problems.some(({ code }) => code === 'rate_limited')
  // As many requests as the correction sends.
  const remaining = 1 + steps.filter((step) => step.path === operation.path).length
  const quota = toAccount(account, 'PATCH', '/quotas', { bucket: operation.path.slice(1), remaining })
  return {
    before: [...admission.steps, ...(isLimited ? [quota] : []), ...steps],
    request: {
      ...{ plane: 'service', method: route.method, path, key: 'valid' },
      ...(operation.readsBody && { body: content.body }),
    },
    changes:
      changes.length === 0 ? ['Nothing: as the account is now, the request is accepted as it was sent.'] : listed,
  }

  /** An example has nothing that was sent. */
  function exampleOf(): AcceptedContent | undefined {
    const json = ['content-type', 'application/json']
    const sent = { operation, parameters: [], rest: undefined, headers: json, body: undefined }
    const example = correctContent(sent, account, contract)
    return (
      example && { ...example, changes: ['The request is an example, because too little of what was sent is left.'] }
    )
  }
}

/** A query and a body that the operation accepts after some steps. */
interface AcceptedContent {
  steps: readonly PlannedRequest[]
  parameters: Parameters
  /** Empty if the operation reads no body. */
  body: Json
  changes: readonly string[]
}

/** The query and the body, with as much as possible of the sent ones; `undefined` if they cannot be corrected. */
function correctContent(
  sent: SentContent,
  account: AccountState,
  contract: ServiceContract,
): AcceptedContent | undefined {
  const { operation, rest } = sent
  const rehearsal = new Rehearsal(contract, account, undefined, { spares: true })
  const read = readSentBody(sent, contract.settings)
  const clues = [rest, read.body['id']].filter((clue): clue is string => typeof clue === 'string')
  try {
    const { parameters, changes } = correctQuery(sent.parameters, clues, operation, rehearsal)
    const query = firstValues(parameters)
    const all = { changes: [...read.changes, ...changes], origins: new Map() }
    const draft: BodyDraft = { ...all, body: read.body, operation, query, rehearsal }
    for (let pass = 0; pass < PASSES; pass++) {
      const { body } = draft
      const received = { operation, query, body: operation.readsBody ? { ok: true as const, value: body } : undefined }
      const judgement = judge(received, rehearsal.state, contract, rehearsal.now)
      // What is too long to be read is not corrected.
      const isShort = () => Buffer.byteLength(JSON.stringify(body)) <= contract.settings.bodyLimit
      if (judgement.ok) {
        return isShort() ? { steps: rehearsal.steps, parameters, body, changes: draft.changes } : undefined
      }
      if (!correctBody(draft, judgement.problems)) return undefined
    }
  } catch (error) {
    if (!(error instanceof SampleRefused)) throw error
  }
  return undefined
}

/** What is wrong with the sender or the form of the request, by code and reason, and how the correction differs. */
const FORM: readonly (readonly [code: string, reason: string | undefined, change: string])[] = [
  ['unauthorized', undefined, 'The header `Authorization` carries a valid key.'],
  ['rate_limited', undefined, 'The quota of this path is restored first, because it is used up.'],
  ['invalid_request_body', 'malformed', 'The request is sent as valid HTTP/1.1, with a `Host`.'],
  ['invalid_request_body', 'timeout', 'The request is sent without a pause.'],
  ['request_too_large', 'large-header', 'The request has no headers but those that it needs.'],
]

/** Corrects the sender and the form of the request, such as the key and the plan, but not its content. */
function admit(
  { headers }: RefusedRequest,
  problems: readonly Problem<string>[],
  account: AccountState,
  { settings: { plans } }: ServiceContract,
) {
  const steps: PlannedRequest[] = []
  const changes: string[] = []
  if (problems.some(({ reason }) => reason === 'host')) {
    const sent = spelt(fieldOf(headers, 'host') ?? '')
    changes.push(`The address is that of the server, so that \`Host\` names it, instead of ${sent}.`)
  }
  for (const [code, reason, change] of FORM) {
    if (problems.some((each) => each.code === code && each.reason === reason)) changes.push(change)
  }
  if (!account.keys.some(({ disabled }) => !disabled)) {
    steps.push(toAccount(account, 'POST', '/keys', {}))
    changes.push('The account gets a key first, because it has none that is enabled.')
  }
  if (!includesApiAccess(account.plan, plans)) {
    const plan = plans.order.find((each) => includesApiAccess(each, plans)) ?? plans.lowest
    steps.push(toAccount(account, 'PATCH', '', { plan }))
    changes.push(`The account gets the plan ${plan} first, because ${account.plan} does not include API access.`)
  }
  return { steps, changes }
}

/** A request to the control plane, below the account's path. */
function toAccount({ id }: AccountState, method: string, path: string, body: Json): PlannedRequest {
  return { plane: 'admin', method, path: `/accounts/${encodeURIComponent(id)}${path}`, body }
}
