import type { Refusal } from '../domain/errors.ts'

/** The error codes of the control plane. Its document gives each a status and a message. A test compares both lists. */
export const ADMIN_CODES = [
  'unauthorized',
  'forbidden',
  'invalid_request_body',
  'invalid_json',
  'unknown_field',
  'missing_field',
  'invalid_field_type',
  'conflicting_fields',
  'invalid_value',
  'invalid_fixture',
  'not_found',
  'request_too_large',
  'taken',
  'too_many',
  'protected',
  'refused',
  'insufficient_storage',
  'unavailable',
  'internal_error',
] as const

export type AdminCode = (typeof ADMIN_CODES)[number]
export type AdminRefusal = Refusal<AdminCode>
