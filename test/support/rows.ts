import { askControl, type ControlResponse, type Served } from './control-plane.ts'
import type { SentHeaders } from './request.ts'
import type { TestResponse, TestService } from './service.ts'

/** What a row of a table sends to the service of its test, with the key of the account. */
export function sends(
  method: string,
  path: string,
  body?: unknown,
  headers?: SentHeaders,
): (service: Pick<TestService, 'send'>) => Promise<TestResponse> {
  return (service) => service.send(method, path, body, headers)
}

/** What a row of a table asks of the control plane of its test. */
export function asks(method: string, path: string, body?: unknown): (service: Served) => Promise<ControlResponse> {
  return (service) => askControl(service, method, path, body)
}
