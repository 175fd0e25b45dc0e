import { AUTHORIZED, JSON_BODY, requestBytes } from '../support/wire.ts'

export const DOMAINS = '/api/v1/domains'

export const READ = requestBytes({ target: DOMAINS })

export const POST = { method: 'POST', target: DOMAINS, headers: [AUTHORIZED, JSON_BODY] }

export function repeat(bytes: Buffer, times: number): Buffer {
  return Buffer.concat(Array(times).fill(bytes))
}
