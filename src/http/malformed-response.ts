import type { Contract } from '../contract/contract.ts'
import type { Problem } from '../domain/errors.ts'
import { errorEnvelope } from './envelope.ts'

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
