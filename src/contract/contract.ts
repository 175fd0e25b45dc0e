import type { Policy, PolicyTags, RecordForm } from '../domain/dmarc.ts'
import { ERROR_CODES } from '../domain/errors.ts'
import { type GroupIds, groupIdsOf, type IdFormat } from '../domain/group-ids.ts'
import { kebab, type Settings } from '../domain/settings.ts'
import { wordsOf } from '../ground/chance.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import { memoize } from '../ground/memo.ts'
import type { Api } from './api.ts'
import { compileApi } from './api-compiler.ts'
import { ContractError } from './contract-error.ts'
import { type DocumentOptions, readDocument, resolveDocument } from './document.ts'
import { canonicalHostname, type IsPublicSuffix, settingsAgainst } from './hostname.ts'
import { compilerFor as usualCompiler } from './schema-compiler.ts'
import { readSettings } from './settings.ts'
import { compileShortWriter, compileWriter } from './writer.ts'

/** The compiled openapi.yaml, with what behaviour reads from it. */
export interface Contract extends Api {
  settings: Settings
  /** The form in which a hostname is stored and compared; `undefined` if the text is no hostname. */
  canonicalHostname(text: string): string | undefined
  /** The names of the settings of which each alone, with another value, would accept a text that is no hostname. */
  settingsAgainst(text: string): string[]
  groupIds: GroupIds
  /** How many characters the name of a group may have. */
  nameLimit: number
  requestIds: 'uuid' | 'hex'
  /** The smallest difference between two percentages. */
  percentageStep: number
  recordForm: RecordForm
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** By the longest quota window. */
const own = new Map<number, Promise<Contract>>()

/**
 * Loads and compiles the contract. All servers of the process share the one of the package's own document, because it
 * has no state. @throws ContractError for anything that would not work later.
 */
export function loadContract(options: DocumentOptions = {}): Promise<Contract> {
  const { path, overlays = [], longestWindow = Number.POSITIVE_INFINITY } = options
  if (path !== undefined || overlays.length > 0) return compileContract(options)
  const known = own.get(longestWindow)
  if (known !== undefined) return known
  const contract = compileContract(options)
  own.set(longestWindow, contract)
  return contract
}

/** The same, compiled anew each time. */
export async function compileContract(options: DocumentOptions, compilerFor = usualCompiler): Promise<Contract> {
  const text = await readDocument({ ...options, codes: ERROR_CODES })
  const settings = await readSettings(text)
  // Of the service's own ids. The response may have one of the client's.
  const requestId = valueAt(text.source, REQUEST_ID_SCHEMA)
  const document = await resolveDocument(text, settings)
  // One request asks for the same name several times, and so do later requests. The remembered text also takes the
  // place of the many equal ones that accounts would otherwise store.
  const isPublicSuffix = settings.publicSuffixes === 'refused' ? await loadPublicSuffixes() : undefined
  const canonical = memoize((name) => canonicalHostname(name, settings, isPublicSuffix), {
    limit: 20_000,
    longest: 253,
  })
  const compiler = await compilerFor(document, {
    hostname: (name: string) =>
      settings.spelling === 'canonical' ? canonical(name) === name : canonical(name) !== undefined,
    'idn-hostname': (name: string) => canonical(name) !== undefined,
    uuid: UUID,
  })
  const schemas = (document.resolved.components?.schemas ?? {}) as Record<string, Json>
  requireValues(schemas, 'Policy', POLICIES, document.file)
  requireValues(schemas, 'TestMode', TEST_MODES, document.file)
  return {
    ...compileApi(document, compiler, settings.decimals === 'kept' ? compileWriter : compileShortWriter),
    settings,
    canonicalHostname: canonical,
    settingsAgainst: (text) => settingsAgainst(text, settings, isPublicSuffix).map(kebab),
    groupIds: groupIdsOf(idFormat(schemas['DomainGroupId'], document.file), wordsOf),
    nameLimit: Number(schemas['DomainGroupName']?.['maxLength'] ?? Number.POSITIVE_INFINITY),
    requestIds: requestIdFormat(requestId, document.file),
    percentageStep: percentageStep(schemas['Percentage'], document.file),
    recordForm: recordForm(schemas),
  }
}

/** To load the list takes 30 ms, so it is loaded only if it decides anything. */
async function loadPublicSuffixes(): Promise<IsPublicSuffix> {
  const { parse } = await import('tldts')
  return (name) => {
    const { publicSuffix, isIcann } = parse(name)
    return publicSuffix === name && isIcann === true
  }
}

const REQUEST_ID_SCHEMA = '/components/headers/X-Request-Id/schema'

function requestIdFormat(schema: unknown, file: string): Contract['requestIds'] {
  const { format, pattern } = isObject(schema) ? schema : {}
  if (format === 'uuid') return 'uuid'
  if (pattern === '^[0-9a-f]{32}$') return 'hex'
  throw new ContractError(file, REQUEST_ID_SCHEMA, 'Request ids are made as format uuid or as pattern ^[0-9a-f]{32}$.')
}

const POLICIES = Object.keys({ none: true, quarantine: true, reject: true } satisfies Record<Policy, true>)
const TEST_MODES = Object.keys({ y: true, n: true } satisfies Record<NonNullable<PolicyTags['testing']>, true>)

/**
 * Records have these values and no others. Without one of them in the schema, responses would violate it; another one
 * would never be shown. What stands for no value at all, null or empty, is no further value.
 */
function requireValues(schemas: Record<string, Json>, name: string, values: readonly string[], file: string): void {
  const listed = schemas[name]?.['enum']
  // Without a list, any value is allowed.
  if (!Array.isArray(listed)) return
  const given = listed.filter((value) => value !== null && value !== '')
  if (given.length === values.length && values.every((value) => given.includes(value))) return
  const reason = `The DMARC figures have the values ${values.join(', ')}, so the enum must list exactly these.`
  throw new ContractError(file, `/components/schemas/${name}/enum`, reason)
}

/** Percentages are rounded to the `multipleOf` of their schema. It must divide 1, so that 100 is a multiple too. */
function percentageStep(schema: Json | undefined, file: string): number {
  const step = schema?.['multipleOf']
  if (typeof step === 'number' && Number.isInteger(Math.round(1e9 / step) / 1e9)) return step
  throw new ContractError(
    file,
    '/components/schemas/Percentage',
    'Percentages need a multipleOf that divides 1, such as 0.1, in x-constraints.',
  )
}

/** What the schemas of a record and of a policy require and allow says how the policies of a record are written. */
function recordForm({ DmarcRecord, Policy }: Record<string, Json>): RecordForm {
  const required = DmarcRecord?.['required']
  const values = Policy?.['enum']
  const allows = (value: unknown) => Array.isArray(values) && values.includes(value)
  return {
    policies: Array.isArray(required) && required.includes('sp') ? 'effective' : 'published',
    withoutRecord: allows(null) ? null : allows('') ? '' : 'none',
  }
}

/** The ids that fit a schema with `minLength` and with a `pattern` that each single character must match. */
function idFormat(schema: Json | undefined, file: string): IdFormat {
  const { pattern, minLength } = schema ?? {}
  const pointer = '/components/schemas/DomainGroupId'
  if (typeof pattern !== 'string' || typeof minLength !== 'number') {
    throw new ContractError(file, pointer, 'Ids are made from pattern and minLength, so the schema needs both.')
  }
  const alphabet = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'].filter((character) =>
    new RegExp(pattern).test(character),
  )
  if (alphabet.length ** minLength < 1e6) {
    throw new ContractError(file, pointer, 'The schema admits fewer than a million ids.')
  }
  return { alphabet: alphabet.join(''), length: minLength }
}
