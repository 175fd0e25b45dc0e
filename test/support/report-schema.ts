import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'

/** The JSON files that have a schema in `docs/schemas`. */
export const REPORT_NAMES = ['run', 'dependencies', 'explore', 'evidence', 'baseline'] as const
export type ReportName = (typeof REPORT_NAMES)[number]

const validators = new Map<ReportName, ValidateFunction>()

/** The check of a JSON report by its schema in `docs/schemas`. */
export function validatorOf(name: ReportName): ValidateFunction {
  const known = validators.get(name)
  if (known !== undefined) return known
  const schema = JSON.parse(readFileSync(new URL(`../../docs/schemas/${name}.json`, import.meta.url), 'utf8'))
  const validate = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(schema)
  validators.set(name, validate)
  return validate
}

/** Fails unless what the `json` of a report becomes in its file is as `docs/schemas/NAME.json` says. */
export function expectReport(name: ReportName, json: unknown): void {
  const validate = validatorOf(name)
  validate(JSON.parse(JSON.stringify(json)))
  expect(validate.errors).toBeNull()
}
