import type { Refusal } from '../domain/errors.ts'
import { isInstant, parseDuration } from '../domain/iso-8601.ts'
import { camel } from '../domain/settings.ts'
import { isSource } from '../ground/files.ts'
import type { Api } from './api.ts'
import { compileApi } from './api-compiler.ts'
import { prepareDocument, readSource } from './document.ts'
import { createCompiler } from './schema-compiler.ts'
import { expandShortForm } from './short-form.ts'

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

/** The control plane's document in short form. The build writes the whole OpenAPI document. */
const CONTROL_DOCUMENT = 'src/admin/openapi.yaml'

/** The document of the control plane. All servers of the process share it. */
let api: Promise<Api> | undefined

/** The compiled document of the control plane, whose schemas are compiled at their first use. */
export function loadControlApi(): Promise<Api> {
  api ??= readSource([], CONTROL_DOCUMENT).then((written) => {
    const source = isSource ? expandShortForm(written) : written
    const document = prepareDocument(source, { file: CONTROL_DOCUMENT, codes: ADMIN_CODES })
    const formats = { 'date-time': isInstant, duration: (given: string) => parseDuration(given) !== undefined }
    return compileApi(document, { compile: createCompiler(formats, { prepared: './dist/admin/validators.cjs' }) })
  })
  return api
}

/** The numeric settings of the document, which says what each one means. */
export type ControlLimits = Readonly<
  Record<
    | 'bodyLimit'
    | 'nestingLimit'
    | 'faultsPerAccount'
    | 'snapshotsPerAccount'
    | 'keysPerAccount'
    | 'recordsLimit'
    | 'overviewRecords'
    | 'answerLimit'
    | 'pageDefault'
    | 'pageLimit'
    | 'eventStreams',
    number
  >
>

/** The limits in the settings of the document. */
export function readLimits({ document }: Api): ControlLimits {
  const settings = Object.entries(document.source['x-settings'] as Record<string, { value: number }>)
  return Object.fromEntries(settings.map(([name, { value }]) => [camel(name), value])) as ControlLimits
}
