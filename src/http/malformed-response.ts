import type { Contract } from '../contract/contract.ts'
import type { Problem } from '../domain/errors.ts'
import type { AnonymousIds } from './anonymous-ids.ts'
import { errorEnvelope } from './envelope.ts'
import type { Log } from './log.ts'

/** The response to input that is not HTTP. */
export interface MalformedResponse {
  status: number
  code: string
  headers: Readonly<Record<string, string | number>>
  body: Buffer
}

/** Input that was not HTTP, and the answer to it. */
export interface MalformedExchange {
  requestId: string
  /** The readable part of the first line. */
  method: string
  target: string
  problem: Problem
  /** Absent if the connection was closed without a response. */
  response: MalformedResponse | undefined
}

/**
 * Refuses input that is not HTTP, and records it. `cause` is the code of Node's error. Returns the usual error envelope,
 * or `undefined` if the connection is closed without a response.
 */
export type MalformedRefusal = (
  problem: Problem,
  request: Pick<MalformedExchange, 'method' | 'target'>,
  cause?: string,
) => MalformedResponse | undefined

export function createMalformedRefusal(
  contract: Contract,
  nextId: AnonymousIds,
  log: Log,
  record: (exchange: MalformedExchange) => void = () => {},
): MalformedRefusal {
  return function refuseMalformed(problem, { method, target }, cause) {
    const requestId = nextId('malformed')
    const response = malformedResponse(contract, problem, requestId)
    const answered = response && { status: response.status, code: response.code }
    log.info({ request_id: requestId, ...answered, cause }, 'malformed request')
    record({ requestId, method, target, problem, response })
    return response
  }
}

/** The usual error envelope; `undefined` if the connection is closed without a response. */
export function malformedResponse(
  { catalogue, settings }: Contract,
  problem: Problem<string>,
  requestId: string,
): MalformedResponse | undefined {
  if (settings.notHttp === 'closed') return undefined
  const { status, code, message } = catalogue.answer(problem)
  const body = Buffer.from(JSON.stringify(errorEnvelope({ code, message })))
  const headers = {
    'Content-Type': settings.responseType,
    'Content-Length': body.length,
    'X-Request-Id': requestId,
    Connection: 'close',
  }
  return { status, code, headers, body }
}
