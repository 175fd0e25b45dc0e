import { expect } from 'vitest'
import type { PlannedRequest } from '../../src/behaviour/planned-request.ts'
import type { ObservedService } from './observed-service.ts'
import type { TestResponse } from './service.ts'

/** Sends planned requests over HTTP in their order; the answer of the service to the last. */
export async function sendPlanned(
  service: ObservedService,
  requests: readonly PlannedRequest[],
): Promise<TestResponse | undefined> {
  let last: TestResponse | undefined
  for (const request of requests) {
    if (request.plane === 'admin') {
      const { status, text } = await service.ask(request.method, request.path, request.body)
      expect(status, `${JSON.stringify(request)} → ${text}`).toBeLessThan(300)
    } else last = await sendOne(service, request)
  }
  return last
}

function sendOne({ send }: ObservedService, request: PlannedRequest): Promise<TestResponse> {
  const { method, path, key = 'valid', headers = {}, body, padTo = 0 } = request
  const authorization = {
    valid: {},
    none: { authorization: null },
  }[key]
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  return send(method, path, text?.padEnd(padTo), { ...authorization, ...headers })
}
