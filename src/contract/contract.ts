import type { RecordRules } from '../domain/dmarc.ts'
import { ERROR_CODES } from '../domain/errors.ts'
import { type GroupIds, groupIdsOf, type IdFormat } from '../domain/groups.ts'
import { LIMITS } from '../domain/limits.ts'
import type { Settings } from '../domain/settings.ts'
import { rememberWords } from '../ground/chance.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import { memoize } from '../ground/memo.ts'
import type { Api } from './api.ts'
import { compileApi } from './api-compiler.ts'
import { OWN_DOCUMENT, prepareDocument, readSource } from './document.ts'
import { ContractError } from './extensions.ts'
import { canonicalHostname as canonicalForm } from './hostname.ts'
import type { Overlay } from './overlay.ts'
import { compileWriter as compileFixedWriter, compileShortWriter } from './reply.ts'
import { createCompiler, UUID } from './schema-compiler.ts'
import { readSettings } from './settings.ts'

/** The compiled openapi.yaml, with the values that behaviour reads from it. */
export interface Contract extends Api {
  settings: Settings
  /** The form in which a hostname is stored and compared; `undefined` if the text is no hostname. */
  canonicalHostname(text: string): string | undefined
  groupIds: GroupIds
  /** The maximum number of characters in the name of a group. */
  nameLimit: number
  requestIds: 'uuid' | 'hex'
  /** The smallest difference between two percentages. */
  percentageStep: number
  policyWithoutRecord: RecordRules['policyWithoutRecord']
}

interface LoadOptions {
  overlays?: readonly Overlay[]
  /** In seconds: a longer quota window is cut to this. Schemas contain no windows, so all validators stay valid. */
  longestWindow?: number | undefined
}

/** By the longest quota window. */
const own = new Map<number, Promise<Contract>>()

/**
 * Loads the contract. All servers of the process share the contract of the package's own document, because it has no
 * state. @throws ContractError for anything in overlays that would fail later.
 */
export async function loadContract({ overlays = [], longestWindow }: LoadOptions = {}): Promise<Contract> {
  if (overlays.length > 0) return loadChanged(overlays, longestWindow)
  const window = longestWindow ?? Number.POSITIVE_INFINITY
  const contract =
    own.get(window) ?? readSource().then((source) => compileContract(source, { longestWindow, isChanged: false }))
  own.set(window, contract)
  return contract
}

async function loadChanged(overlays: readonly Overlay[], longestWindow: number | undefined): Promise<Contract> {
  try {
    return await compileContract(await readSource(overlays), { longestWindow, isChanged: true, atOnce: true })
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    // The mistake is one of the user's own file, and not of the document alone.
    const files = [OWN_DOCUMENT, ...overlays.map(({ name }) => name)].join(' with ')
    throw Object.assign(error, { message: error.message.replace(/^openapi\.yaml(?=[#:])/, () => files) })
  }
}

interface CompileOptions extends Pick<LoadOptions, 'longestWindow'> {
  /** Whether it is not the document of the package as it is. */
  isChanged?: boolean
  /** Whether all its schemas are compiled now, so that their mistakes show. */
  atOnce?: boolean | undefined
}

/** The contract of a document. @throws ContractError */
export async function compileContract(written: Json, options: CompileOptions = {}): Promise<Contract> {
  const { longestWindow, isChanged = true, atOnce } = options
  const settings = await readSettings(written, OWN_DOCUMENT, { isChecked: isChanged })
  const requestId = valueAt(written, REQUEST_ID_SCHEMA)
  const document = prepareDocument(written, { codes: ERROR_CODES, settings, isChanged })
  const { internationalNames, spelling, decimals } = settings
  const { canonicalHostname, compile } = hostnamesUnder(`${internationalNames} ${spelling}`)
  const schemas = (document.resolved.components?.schemas ?? {}) as Record<string, Json>
  const compileWriter = decimals === 'kept' ? compileFixedWriter : compileShortWriter
  return {
    ...compileApi(document, { compile, compileWriter, atOnce, longestWindow }),
    settings,
    canonicalHostname,
    groupIds: groupIdsOf(idFormat(schemas['DomainGroupId'], document.file), rememberWords),
    nameLimit: nameLimit(schemas['DomainGroupName'], document.file),
    requestIds: requestIdFormat(requestId, document.file),
    percentageStep: percentageStep(schemas['Percentage'], document.file),
    policyWithoutRecord: policyWithoutRecord(schemas['Policy']),
  }
}

/** What contracts share whose two settings about hostnames are equal: many differ in one response. */
const hostnamesUnder = memoize(
  (settings) => {
    const [internationalNames, spelling] = settings.split(' ') as [Settings['internationalNames'], Settings['spelling']]
    // One request looks up the same name several times, and so do later requests. The cached text also replaces the many
    // equal texts that accounts would store.
    const canonical = memoize((name) => canonicalForm(name, internationalNames), { limit: 20_000, longest: 253 })
    const formats = {
      hostname: (name: string) => (spelling === 'canonical' ? canonical(name) === name : canonical(name) !== undefined),
      'idn-hostname': (name: string) => canonical(name) !== undefined,
      uuid: UUID,
    }
    return { canonicalHostname: canonical, compile: createCompiler(formats, { prepared: './dist/validators.cjs' }) }
  },
  { limit: 10 },
)

const REQUEST_ID_SCHEMA = '/components/headers/X-Request-Id/schema'

function requestIdFormat(schema: unknown, file: string): Contract['requestIds'] {
  const { format, pattern } = isObject(schema) ? schema : {}
  if (format === 'uuid') return 'uuid'
  if (pattern === '^[0-9a-f]{32}$') return 'hex'
  throw new ContractError(file, REQUEST_ID_SCHEMA, 'Request ids are made as format uuid or as pattern ^[0-9a-f]{32}$.')
}

/** Percentages are rounded to the `multipleOf` of their schema. It must divide 1, so that 100 is a multiple too. */
function percentageStep(schema: Json | undefined, file: string): number {
  const step = schema?.['multipleOf']
  if (typeof step === 'number' && Number.isInteger(Math.round(1e9 / step) / 1e9)) return step
  const reason = 'Percentages need a multipleOf that divides 1, such as 0.1, in x-constraints.'
  throw new ContractError(file, '/components/schemas/Percentage', reason)
}

/** The policies of a domain without a DMARC record: empty if the schema of a policy permits that. */
function policyWithoutRecord(schema: Json | undefined): RecordRules['policyWithoutRecord'] {
  const values = schema?.['enum']
  return Array.isArray(values) && values.includes('') ? '' : 'none'
}

/** The maximum length of a group's name. Accounts are exported to fixtures, which have a limit for it. */
function nameLimit(schema: Json | undefined, file: string): number {
  const limit = schema?.['maxLength']
  if (typeof limit === 'number' && limit <= LIMITS.groupName) return limit
  const reason = `Names of groups need a maxLength of at most ${LIMITS.groupName}, so that fixtures can have them.`
  throw new ContractError(file, '/components/schemas/DomainGroupName', reason)
}

/** The format of ids, from a schema with `minLength` and with a `pattern` that each single character must match. */
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
