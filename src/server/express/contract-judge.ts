import { conform } from '../../behaviour/conformity.ts'
import { createBodyReader } from '../../contract/body.ts'
import { type Contract, loadContract } from '../../contract/contract.ts'
import { errorEnvelope } from '../../contract/envelope.ts'
import { readOverlays } from '../../contract/overlay.ts'
import { Replier } from '../../contract/reply.ts'
import { createRouter } from '../../contract/router.ts'
import { readWidest } from '../../contract/widest.ts'
import { type Problems, refuse } from '../../domain/errors.ts'
import type { Exchange, SeenBody, SeenRequest, SeenResponse } from '../../exchanges/exchange.ts'
import { formOf } from '../../exchanges/key-form.ts'
import { Keys, readFields } from '../../exchanges/keys.ts'
import { createReader } from '../../exchanges/reading.ts'
import { systemClock } from '../../ground/clock.ts'
import { contentOf } from '../../ground/content.ts'
import { RESPONSE_TYPE, type Response } from '../../ground/delivery.ts'
import { nameInstance } from '../../ground/secrets.ts'
import { readQuery, splitTarget } from '../../ground/target.ts'
import { redactKeys } from '../../journal/redaction/key-shapes.ts'
import { judgeSingle, operationOf } from '../../judge/contract-check.ts'
import { isFailure, type JudgedDifference, partyOf } from '../../judge/finding.ts'
import { writeDate } from '../../service/date.ts'
import { requestIdOf } from '../../service/request-id.ts'
import type { ContractViolation } from './contract-report.ts'

/** A request as it was received, with its key. In `rawHeaders`, names and values alternate. */
export interface ArrivedRequest {
  method: string
  target: string
  rawHeaders: readonly string[]
  body: SeenBody
}

export interface ExchangeVerdict {
  violations: readonly ContractViolation[]
  /** The ids of what the specification leaves open, see `another choice`. */
  otherChoices: readonly string[]
  /** Whether the operation reads a body, so that one that is not known was not checked. */
  readsBody: boolean
  /** Whether the response is already the envelope of a failure of the service itself. */
  isFailure: boolean
}

export type ContractJudge = Awaited<ReturnType<typeof openContractJudge>>

/** Compiles the contract with the overlays in these files. @throws ContractError */
export async function openContractJudge(overlays: readonly string[]) {
  const contract = await loadContract({ overlays: await readOverlays(overlays) })
  const widest = await readWidest(contract)
  const read = createReader(contract)
  const refusalOf = createRefusals(contract)
  const replies = createReplies(contract)

  function judge(received: ArrivedRequest, response: SeenResponse): ExchangeVerdict {
    const { request, fields, keys } = seenRequest(received)
    const requestId = response.headers['x-request-id']
    const exchange: Exchange = { id: requestId ?? '', at: 0, until: 0, overlaps: false, request, response }
    const seen = read(exchange)
    if (seen === undefined) throw new Error('An exchange with a response can be read.')
    // Nobody stands between the application and its answer.
    const reading = seen.failed === 'gateway' ? { ...seen, failed: 'service' as const } : seen
    const operation = operationOf(reading, widest)
    const findings = judgeSingle(reading, widest)
    const failures = findings.filter(isFailure)
    const redact = failures.length === 0 ? undefined : keys.redactorFor({ target: request.target, fields })
    const describe = ({ request_id: _, label: __, ...finding }: JudgedDifference): ContractViolation => ({
      ...finding,
      ...(redact && { message: redact(finding.message), path: redact(finding.path) }),
      ...(redact && finding.asked !== undefined && { asked: redact(finding.asked) }),
      ...(redact && finding.answered !== undefined && { answered: redact(finding.answered) }),
      part: partyOf({ id: finding.id, label: __ }) === 'client' ? 'request' : 'response',
      operation: operation?.id,
      requestId,
    })
    return {
      violations: failures.map(describe),
      otherChoices: findings.filter(({ label }) => label === 'another choice').map(({ id }) => id),
      readsBody: operation?.readsBody ?? false,
      isFailure: reading.outcome.kind === 'refusal' && reading.outcome.code === 'internal_error',
    }
  }

  /** What the stand-in would answer to a request that breaks the contract; `undefined` if it keeps it. */
  function refuseRequest(
    received: ArrivedRequest,
  ): { response: Response; violations: readonly ContractViolation[] } | undefined {
    const refusal = refusalOf(seenRequest(received).request)
    if (refusal === undefined) return undefined
    const response = replies.refuse(refusal)
    const violations = judge(received, seenOf(response)).violations.filter(({ part }) => part === 'request')
    // Another choice of the specification may permit it.
    return violations.length === 0 ? undefined : { response, violations }
  }

  const { bodyLimit } = contract.settings
  return { contract, bodyLimit, judge, refuseRequest, fail: replies.fail, isRequestId: replies.isRequestId }
}

/** A request as the whole judgement sees it, with its header fields as they were sent. */
function seenRequest({ method, target, rawHeaders, body }: ArrivedRequest) {
  const fields = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  )
  // The same key has another name in each exchange, so that keys are not kept.
  const keys = new Keys()
  const credentials = keys.credentialsOf(fields)
  const request: SeenRequest = { method, target, headers: readFields(fields, redactKeys), credentials, body }
  return { request, fields, keys }
}

type ContractRefusal = { problems: Problems<string>; operation?: Contract['operations'][number]; allow?: string }

/** Creates the function that finds the refusal of the stand-in, as far as the account plays no part. */
function createRefusals(contract: Contract): (request: SeenRequest) => ContractRefusal | undefined {
  const { settings, catalogue } = contract
  const findRoute = createRouter(contract, settings)
  const bodies = createBodyReader(settings)

  return function refusalOf({ method, target, headers, credentials, body }) {
    const { path, query: text } = splitTarget(target)
    const route = findRoute(method, path)
    const form = formOf(credentials)
    const hasKey =
      form === 'exact' || form === 'unknown' || (form === 'any-case' && settings.authorizationScheme === form)
    if (!route.ok && (hasKey || settings.routing === 'before-key')) return route
    const operation = route.ok ? route.operation : undefined
    if (!hasKey || operation === undefined)
      return { ...refuse({ code: 'unauthorized' }), ...(operation && { operation }) }
    if (!body.isKnown && operation.readsBody) return undefined
    const received = body.isKnown ? bodies.readBytes(body.bytes, headers, operation) : undefined
    const conformity = conform({ operation, query: readQuery(text), body: received }, settings, catalogue)
    return conformity.ok ? undefined : { problems: conformity.problems, operation }
  }
}

/** Creates the functions that write the responses of the middleware itself. */
function createReplies(contract: Contract) {
  const replier = new Replier(contract, 'off')
  const source = nameInstance()
  let ordinal = 0

  function write(status: number, body: Response['body'], more: readonly string[]): Response {
    const id = requestIdOf(source, ++ordinal, contract.requestIds)
    const date = writeDate(systemClock())
    const usual = ['Content-Length', body.size, 'Content-Type', RESPONSE_TYPE, 'Date', date, 'X-Request-Id', id]
    return { status, headers: [...usual, ...more], body, transmission: undefined }
  }

  return {
    refuse({ problems, operation, allow }: ContractRefusal): Response {
      const { status, body, headers } = replier.refuse(operation, problems)
      const allowed = allow !== undefined && status === 405 ? ['Allow', allow] : []
      return write(status, body, [...Object.entries(headers).flat(), ...allowed])
    },
    fail(): Response {
      const { status, code } = contract.catalogue.answer({ code: 'internal_error' })
      const message = 'The response of the service broke its contract, so it was not sent.'
      return write(status, contentOf(JSON.stringify(errorEnvelope({ code, message }))), [])
    },
    /** Whether a response may have this id. */
    isRequestId(id: string): boolean {
      const found = contract.operations[0]?.success.checkHeaders({ 'x-request-id': id }) ?? []
      return found.every(({ pointer }) => pointer !== '/x-request-id')
    },
  }
}

/** A response of the middleware itself, as the judge sees responses. */
function seenOf({ status, headers, body: { held } }: Response): SeenResponse {
  const pairs = headers.flatMap((name, index) =>
    index % 2 === 0 ? [[`${name}`, `${headers[index + 1]}`] as const] : [],
  )
  return {
    status,
    headers: readFields(pairs, (text) => text),
    body: { isKnown: true, bytes: Buffer.from(held as string) },
  }
}
