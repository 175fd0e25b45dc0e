import type { Contract } from '../contract/contract.ts'
import { errorEnvelope } from '../contract/envelope.ts'
import type { Problem } from '../domain/errors.ts'
import { RESPONSE_TYPE } from '../ground/delivery.ts'
import type { Log } from '../ground/log.ts'
import type { AnonymousIds } from './anonymous-ids.ts'

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
  response: MalformedResponse
}

/**
 * Refuses input that is not HTTP with the usual error envelope, and records it. `cause` is the code of Node's error.
 */
export type MalformedRefusal = (
  problem: Problem,
  request: Pick<MalformedExchange, 'method' | 'target'>,
  cause?: string,
) => MalformedResponse

export function createMalformedRefusal(
  contract: Contract,
  nextId: AnonymousIds,
  log: Log,
  record: (exchange: MalformedExchange) => void = () => {},
): MalformedRefusal {
  return function refuseMalformed(problem, { method, target }, cause) {
    const requestId = nextId('malformed')
    const response = malformedResponse(contract, problem, requestId)
    const { status, code } = response
    log.info({ request_id: requestId, status, code, cause }, 'malformed request')
    record({ requestId, method, target, problem, response })
    return response
  }
}

/** The usual error envelope. */
function malformedResponse(
  { catalogue }: Pick<Contract, 'catalogue'>,
  problem: Problem<string>,
  requestId: string,
): MalformedResponse {
  const { status, code, message } = catalogue.answer(problem)
  const body = Buffer.from(JSON.stringify(errorEnvelope({ code, message })))
  const headers = {
    'Content-Type': RESPONSE_TYPE,
    'Content-Length': body.length,
    'X-Request-Id': requestId,
    Connection: 'close',
  }
  return { status, code, headers, body }
}
