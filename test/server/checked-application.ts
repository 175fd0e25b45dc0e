import express, { type Express, type RequestHandler, type Response } from 'express'
import { type ContractOptions, type ContractViolation, contract } from '../../src/express.ts'
import { AUTHORIZED, chunked, JSON_BODY, type WireRequest } from '../support/wire.ts'
import { serve } from './application.ts'

export type Handler = (response: Response) => unknown

export const BODY = '{"success":true,"data":{"domains":["a.example"]}}'
export const FIELDS = {
  'X-Request-Id': '6b5bd7b8-6a8e-4c5c-9f4f-0c8d5a1f0b11',
  'X-RateLimit-Limit': '30',
  'X-RateLimit-Remaining': '29',
  'X-RateLimit-Reset': '1768471200',
}
export const WRITTEN = { ...FIELDS, 'Content-Type': 'application/json' }
export const LIST: WireRequest = { target: '/api/v1/domains', headers: [AUTHORIZED] }
export const ADD: WireRequest = {
  ...LIST,
  method: 'POST',
  headers: [AUTHORIZED, JSON_BODY],
  body: '{"domains":["a.example"]}',
}
export const inChunks = (request: WireRequest): WireRequest => ({
  ...request,
  body: chunked(`${request.body}`, 5),
  headers: [...(request.headers ?? []), ['Transfer-Encoding', 'chunked']],
})
/** An application that answers each request in this way, behind the middlewares. */
export function answering(handler: Handler, ...before: RequestHandler[]): Express {
  // With no field of Express, what is given to writeHead is in no list of Node.js.
  const app = express().disable('x-powered-by')
  for (const each of before) app.use(each)
  return app.use((_request, response) => {
    // The time would differ.
    response.sendDate = false
    return void handler(response)
  })
}

/** An application behind `contract`, and what it was told. */
export async function checked(handler: Handler, options: ContractOptions = {}) {
  const violations: ContractViolation[] = []
  const check = contract({ onViolation: (violation) => violations.push(violation), ...options })
  return { port: await serve(answering(handler, check)), check, violations }
}

export const json = (response: Response) => response.set(FIELDS).type('application/json')

export const succeed: Handler = (response) => json(response).send(BODY)
/** The same, when it has read the body of the request. */
export const afterReading =
  (handler: Handler): Handler =>
  (response) =>
    response.req.on('end', () => handler(response)).resume()
export const refuse =
  (status: number, code: string, message = 'No.'): Handler =>
  (response) =>
    response.set(FIELDS).status(status).json({ success: false, error: { code, message } })
export const list =
  (data: unknown, more = {}): Handler =>
  (response) =>
    response.set(FIELDS).json({ success: true, data, ...more })
export const without =
  (name: string): Handler =>
  (response) => {
    json(response).removeHeader(name)
    response.send(BODY)
  }
