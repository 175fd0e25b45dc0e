import type { Fields } from '../parts.ts'
import { type Deviation, header, refusals, sends, unexplained, violation, without } from './deviation.ts'

/** What can be wrong with the envelope and the headers of any response. */
export const ENVELOPE: readonly Deviation[] = [
  {
    id: 'success-as-text',
    says: 'success is "true".',
    ...violation('/properties/success', 'read'),
    change: sends(({ body }) => ({ body: { ...(body as Fields), success: String((body as Fields)['success']) } })),
  },
  {
    id: 'no-success',
    says: 'The envelope has no success.',
    ...violation('/schemas', 'read'),
    change: sends(({ body }) => ({ body: { ...(body as Fields), success: undefined } })),
  },
  {
    id: 'bare-data',
    says: 'A success has no envelope.',
    ...violation('', 'read'),
    change: sends(({ body }) =>
      (body as Fields)['success'] === true ? { body: (body as Fields)['data'] } : undefined,
    ),
  },
  {
    id: 'more-in-envelope',
    says: 'The envelope has a field that is not described.',
    ...violation('', 'read'),
    change: sends(({ body }) => ({ body: { ...(body as Fields), version: 1 } })),
  },
  {
    id: 'refusal-as-success',
    says: 'A refusal has success: true.',
    ...violation('', 'read'),
    change: refusals((error) => ({ body: { success: true, error } })),
  },
  {
    id: 'error-as-text',
    says: 'error is its message.',
    ...violation('/schemas/', 'read'),
    change: refusals(({ message }) => ({ body: { success: false, error: message } })),
  },
  {
    id: 'no-error-message',
    says: 'An error has no message.',
    ...violation('/schemas/Error', 'read'),
    change: refusals(({ code }) => ({ body: { success: false, error: { code } } })),
  },
  {
    id: 'no-error-code',
    says: 'An error has no code.',
    ...violation('/schemas/Error', 'read'),
    change: refusals(({ message }) => ({ body: { success: false, error: { message } } })),
  },
  {
    id: 'numeric-error-code',
    says: 'The code of an error is a number.',
    ...violation('/schemas/Error', 'read'),
    change: refusals((error, status) => ({ body: { success: false, error: { ...error, code: status } } })),
  },
  {
    id: 'foreign-error-code',
    says: 'A code is none of those that are listed.',
    ...violation('/schemas/Error', 'read'),
    change: refusals((error) => ({ body: { success: false, error: { ...error, code: 'bad_request' } } })),
  },
  {
    id: 'refusal-with-200',
    says: 'A refusal has status 200.',
    ...violation('/x-errors', 'read'),
    change: refusals(() => ({ status: 200 })),
  },
  {
    id: 'html-errors',
    says: 'A refusal is an HTML page.',
    ...violation('', 'read'),
    change: sends(({ body, headers, status }) =>
      (body as Fields)['success'] === true
        ? undefined
        : { headers: { ...headers, 'Content-Type': 'text/html' }, body: `<html><h1>${status}</h1></html>` },
    ),
  },
  {
    id: 'text-type',
    says: 'The Content-Type is text/plain.',
    ...violation('', 'read'),
    change: header((headers) => ({ ...headers, 'Content-Type': 'text/plain' })),
  },
  { id: 'no-type', says: 'There is no Content-Type.', ...violation('', 'read'), change: without('Content-Type') },
  {
    id: 'cut-json',
    says: 'The body ends in the middle.',
    ...violation('', 'read'),
    change: sends(({ body }) => ({ body: JSON.stringify(body).slice(0, -2) })),
  },
  {
    id: 'empty-success',
    says: 'A deletion is answered with 204 and nothing.',
    ...violation('/responses', 'write'),
    change: sends(({ body }, { method }) =>
      method === 'DELETE' && (body as Fields)['success'] === true ? { status: 204, body: '' } : undefined,
    ),
  },
  {
    id: 'no-request-id',
    says: 'Responses have no X-Request-Id.',
    ...violation('X-Request-Id', 'read'),
    change: without('X-Request-Id'),
  },
  {
    id: 'no-request-id-on-refusals',
    says: 'Refusals have no X-Request-Id.',
    ...violation('X-Request-Id', 'read'),
    change: sends(({ headers, status }) =>
      status < 400
        ? undefined
        : { headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'X-Request-Id')) },
    ),
  },
  {
    id: 'same-request-id',
    says: 'Every response has the same X-Request-Id.',
    ...unexplained('reads'),
    change: header((headers) => ({ ...headers, 'X-Request-Id': '5ecb3e29-3c77-4a1f-8a3e-0f6a1c0a9d11' })),
  },
]
