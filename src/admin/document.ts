import type { Api } from '../contract/api.ts'
import { compileApi } from '../contract/api-compiler.ts'
import type { Contract } from '../contract/contract.ts'
import { readDocument, resolveDocument } from '../contract/document.ts'
import { createCompiler } from '../contract/schema-compiler.ts'
import { isInstant, parseDuration } from '../domain/iso-8601.ts'
import { kebab } from '../domain/settings.ts'
import { createRuleCheck, type RuleCheck } from '../faults/rule-check.ts'
import { valueAt } from '../ground/json.ts'
import { ADMIN_CODES } from './codes.ts'

/** The control plane's OpenAPI document. */
const CONTROL_DOCUMENT = 'src/admin/openapi.yaml'

let api: Promise<Api> | undefined

/**
 * The compiled document of the control plane. All servers of the process share it. With `validated: false`, it is
 * validated, which a test does so that no start need.
 */
export function loadControlApi({ validated = true }: { validated?: boolean } = {}): Promise<Api> {
  if (!validated) return compileControlApi(validated)
  api ??= compileControlApi(validated)
  return api
}

async function compileControlApi(validated: boolean): Promise<Api> {
  const text = await readDocument({ path: CONTROL_DOCUMENT, codes: ADMIN_CODES, validated })
  const document = await resolveDocument(text)
  const formats = { 'date-time': isInstant, duration: (given: string) => parseDuration(given) !== undefined }
  return compileApi(document, createCompiler(formats, { validateSchema: !validated }))
}

/** The numeric settings of the document, which says what each one means. */
const LIMITS = [
  'bodyLimit',
  'nestingLimit',
  'faultsPerAccount',
  'snapshotsPerAccount',
  'keysPerAccount',
  'recordsLimit',
  'overviewRecords',
  'namedDomains',
  'answerLimit',
  'pageDefault',
  'pageLimit',
  'pageBytes',
  'eventStreams',
] as const

export type ControlLimits = Readonly<Record<(typeof LIMITS)[number], number>>

/** The limits in the settings of the document. */
export function readLimits({ document }: Api): ControlLimits {
  const read = (name: string) => {
    const value = valueAt(document.source, `/x-settings/${kebab(name)}/value`)
    if (typeof value !== 'number') throw new Error(`The control plane's document needs the setting ${kebab(name)}.`)
    return value
  }
  return Object.fromEntries(LIMITS.map((name) => [name, read(name)])) as ControlLimits
}

/** The check of fault rules in files, by the schema and the limits of this document. */
export async function loadRuleCheck(contract: Contract): Promise<RuleCheck> {
  const controlApi = await loadControlApi()
  return createRuleCheck(contract, controlApi, readLimits(controlApi))
}
