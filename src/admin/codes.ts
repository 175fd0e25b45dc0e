import type { Problem, Refusal } from '../domain/errors.ts'

/** Every error code of the control plane; its document gives each its status and words, and a test holds them together. */
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
  'internal_error',
] as const

export type AdminCode = (typeof ADMIN_CODES)[number]
export type AdminProblem = Problem<AdminCode>
export type AdminRefusal = Refusal<AdminCode>

export function notFound(what: string, value: string): AdminRefusal {
  return { ok: false, problems: [{ code: 'not_found', value, about: { what } }] }
}

/** A value that the schema lets pass and the situation does not. */
export function invalid(
  field: string,
  value: unknown,
  reason: string,
  about: Readonly<Record<string, string | number>> = {},
): AdminRefusal {
  return { ok: false, problems: [{ code: 'invalid_value', reason, field, value, about }] }
}

export function tooMany(limit: number, what: string): AdminRefusal {
  return { ok: false, problems: [{ code: 'too_many', about: { limit, what } }] }
}

export function taken(what: string, value: string): AdminRefusal {
  return { ok: false, problems: [{ code: 'taken', value, about: { what } }] }
}
