import type { ErrorObject } from 'ajv/dist/2020.js'
import type { OpenAPIV3_1 } from 'openapi-types'
import type { Settings } from '../domain/settings.ts'
import { isSource, readPackageFile } from '../ground/files.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import { violationOf } from '../ground/schema.ts'
import { Catalogue } from './catalogue.ts'
import { placeCodes, placeHeaders } from './codes.ts'
import { ContractError, checkExtensions, withConstraints } from './extensions.ts'
import type { Overlay } from './overlay.ts'

/** The service's OpenAPI document in the package. Error messages name it so, too. */
export const OWN_DOCUMENT = 'openapi.yaml'

/** An OpenAPI document with our extensions. */
export interface ApiDocument {
  /** The name of the document in error messages. */
  file: string
  /** Every code is under its status in the catalogue. */
  source: Json
  /** The source without references, and with the keywords of each `x-constraints` merged into its schema. */
  resolved: OpenAPIV3_1.Document
  catalogue: Catalogue
  /** Whether it says something else than the document of the package, so that what holds under that may not hold. */
  isChanged: boolean
}

/**
 * A document of the package, by default that of the service, with overlays applied. What overlays have changed is
 * validated. @throws ContractError
 */
export async function readSource(overlays: readonly Overlay[] = [], file = OWN_DOCUMENT): Promise<Json> {
  // The build writes each document as JSON, which is read in a fraction of the time.
  let source = isSource
    ? await parseWritten(file)
    : JSON.parse(readPackageFile(file.replace(/^(?:src\/)?(.*)\.yaml$/, 'dist/$1.json')).toString())
  if (overlays.length === 0) return source
  const { applyOverlay } = await import('./overlay.ts')
  for (const overlay of overlays) source = await applyOverlay(source, overlay)
  await checkSource(source, file)
  return source
}

async function parseWritten(file: string): Promise<Json> {
  const { parseYaml } = await import('./yaml.ts')
  return (await parseYaml(readPackageFile(file).toString(), file)) as Json
}

/** Checks that a document is valid OpenAPI 3.1, and that its extensions are valid. @throws ContractError */
export async function checkSource(source: Json, file = OWN_DOCUMENT): Promise<void> {
  await checkExtensions(source, file)
  const { default: SwaggerParser } = await import('@apidevtools/swagger-parser')
  const options = { resolve: { external: false }, dereference: { circular: false } } as const
  await SwaggerParser.validate(structuredClone(source) as never, options).catch((error: SchemaError) => {
    const [first] = error.details ?? []
    const words = error.message
      .replace('[object Object] is not a valid Openapi API definition', 'The document has no paths')
      .replace(/\.?(\n.*)?$/s, '.')
    if (first === undefined) throw new ContractError(file, '', words)
    const { pointer, reason } = violationOf(first)
    throw new ContractError(file, pointer, `The value ${reason}.`)
  })
}

/** What swagger-parser throws. It has details if the document violates the schema of OpenAPI. */
type SchemaError = Error & { details?: readonly ErrorObject[] }

/**
 * Places the codes of a document, which are those of `codes`, and the headers by the settings, and resolves its
 * references. A document without settings keeps its headers as written. @throws ContractError
 */
export function prepareDocument(
  written: Json,
  { file = OWN_DOCUMENT, codes, settings, isChanged = false }: PreparationOptions,
): ApiDocument {
  const catalogue = Catalogue.read(written, codes, file)
  const source = placeCodes(written, catalogue, file)
  if (settings !== undefined) placeHeaders(source, settings)
  return { file, source, resolved: followReferences(source) as OpenAPIV3_1.Document, catalogue, isChanged }
}

interface PreparationOptions {
  file?: string
  codes: readonly string[]
  settings?: Settings
  isChanged?: boolean
}

/**
 * A copy with resolved references, none of which leads back to itself. The `x-constraints` of each schema become
 * keywords of the schema. Several references to one object lead to one copy. @throws ContractError
 */
export function followReferences(document: Json): unknown {
  const followed = new Map<Json, unknown>()
  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve)
    if (!isObject(value)) return value
    if (!followed.has(value)) followed.set(value, copyOf(value))
    return followed.get(value)
  }
  function copyOf(value: Json): unknown {
    const { $ref: reference, ...rest } = withConstraints(value)
    for (const key in rest) rest[key] = resolve(rest[key])
    if (typeof reference !== 'string') return rest
    const target = resolve(valueAt(document, reference.slice(1)))
    if (!isObject(target)) throw new ContractError(OWN_DOCUMENT, '', `The reference ${reference} leads nowhere in it.`)
    return Object.keys(rest).length === 0 ? target : { ...target, ...rest }
  }
  return resolve(document)
}
