import { isAbsolute } from 'node:path'
import type { OpenAPIV3_1 } from 'openapi-types'
import { ERROR_CODES } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import { isSource, readPackageFile } from '../ground/package-files.ts'
import { Catalogue } from './catalogue.ts'
import { placeCodes } from './codes.ts'
import { ContractError } from './contract-error.ts'
import { checkCodes, checkConstraints, checkIds, checkOpenApi, checkReferences } from './document-checks.ts'
import { checkExtensions, type Extension, extensionsOf, withConstraints } from './extensions.ts'
import { applyOverlay, type Overlay } from './overlay.ts'
import { placeHeaders } from './response-headers.ts'
import { parseYaml } from './yaml.ts'

/** The service's OpenAPI document in the package. Error messages name it so, too. */
const OWN_DOCUMENT = 'openapi.yaml'

/** An OpenAPI document with our extensions, with unresolved references. */
export interface DocumentText {
  /** The name of the document in error messages. */
  file: string
  /** The document as written, with overlays applied. */
  source: Json
  extensions: readonly Extension[]
  catalogue: Catalogue
  /**
   * Whether the document was validated before: it is that of the package, a test validates it, and no overlay has
   * changed it. Then checks that would only find mistakes in it are skipped.
   */
  validated: boolean
}

/** The same document with every code under its status in the catalogue. */
export interface ApiDocument extends DocumentText {
  /** The document without references, and with the keywords of each `x-constraints` merged into its schema. */
  resolved: OpenAPIV3_1.Document
}

export interface DocumentOptions {
  /** An OpenAPI document of the package, or the whole path of another one; by default openapi.yaml. */
  path?: string
  /** The result of `readSource`. With it, the document is not read again. */
  source?: Json
  overlays?: readonly Overlay[]
  /** In seconds: a longer quota window is cut to this. Schemas contain no windows, so all validators stay valid. */
  longestWindow?: number
  /** The codes that behaviour answers with; by default those of the service. */
  codes?: readonly string[]
  /** Whether the document was validated before; by default true for that of this package without overlays. */
  validated?: boolean
}

/** The document of this package as written, with overlays applied and without checks. @throws ContractError */
export async function readSource(overlays: readonly Overlay[] = []): Promise<Json> {
  let source = await readWritten(OWN_DOCUMENT)
  for (const overlay of overlays) source = await applyOverlay(source, overlay)
  return source
}

/** Reads a document and does all checks that need no resolved references. @throws ContractError */
export async function readDocument(options: DocumentOptions = {}): Promise<DocumentText> {
  const { path, overlays = [], longestWindow = Number.POSITIVE_INFINITY, codes = ERROR_CODES } = options
  const file = path ?? OWN_DOCUMENT
  const validated = options.validated ?? (path === undefined && overlays.length === 0)
  let source = options.source ?? (await readWritten(file))
  for (const overlay of overlays) source = await applyOverlay(source, overlay)
  source = cutWindows(source, longestWindow)
  // A start that only serves needs no extensions, so they are collected on first use.
  let found: Extension[] | undefined
  const extensions = () => (found ??= extensionsOf(source))
  if (!validated) await checkExtensions(extensions(), file)
  const catalogue = Catalogue.read(source, codes, file)
  if (!validated) {
    checkCodes(extensions(), catalogue, file)
    checkReferences(source, file)
    checkIds(extensions(), file)
    checkConstraints(extensions(), source, file)
  }
  return {
    file,
    source,
    get extensions() {
      return extensions()
    },
    catalogue,
    validated,
  }
}

/** A copy of the document without quota windows longer than `longest` seconds. */
function cutWindows(source: Json, longest: number): Json {
  const { paths } = source
  if (longest === Number.POSITIVE_INFINITY || !isObject(paths)) return source
  const items = Object.entries(paths).map(([path, item]) => {
    const quota = isObject(item) ? item['x-quota'] : undefined
    // A window that is no number stays unchanged, and a later check refuses it.
    const isLong = isObject(quota) && typeof quota['window'] === 'number' && quota['window'] > longest
    return [path, isLong ? { ...(item as Json), 'x-quota': { ...quota, window: longest } } : item]
  })
  return { ...source, paths: Object.fromEntries(items) }
}

/**
 * Places the codes and the headers by the settings, validates the result as OpenAPI, and resolves its references. A
 * document without settings keeps its headers as written. @throws ContractError
 */
export async function resolveDocument(text: DocumentText, settings?: Settings): Promise<ApiDocument> {
  const { catalogue, file, validated } = text
  const source = placeCodes(text.source, catalogue, file)
  if (settings !== undefined) placeHeaders(source, settings)
  if (!validated) await checkOpenApi(source, file)
  const resolved = followReferences(source) as OpenAPIV3_1.Document
  // The same object is returned, because a copy would evaluate the property `extensions`.
  return Object.assign(text, { source, resolved })
}

/** Where the build writes a document of the package as JSON, which is read in a fraction of the time. */
function jsonPathOf(file: string): string {
  return file.replace(/^(?:src\/)?(.*)\.yaml$/, 'dist/$1.json')
}

/** A document as it is written, or as the build has written it. @throws ContractError */
export async function readWritten(file: string): Promise<Json> {
  if (!isSource && !isAbsolute(file)) return JSON.parse(readPackageFile(jsonPathOf(file)).toString())
  const source = await parseYaml(readText(file).toString(), file)
  if (!isObject(source)) throw new ContractError(file, '', 'An OpenAPI document must be an object.')
  return source
}

function readText(file: string): Buffer {
  try {
    return readPackageFile(file)
  } catch (error) {
    throw new ContractError(file, '', `The document cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/**
 * A copy with resolved references. The `x-constraints` of each schema become keywords of the schema. Several references
 * to one object lead to one copy. `checkReferences` has excluded missing targets and cycles.
 */
export function followReferences(document: Json): unknown {
  const followed = new Map<Json, unknown>()
  function follow(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(follow)
    if (!isObject(value)) return value
    if (!followed.has(value)) followed.set(value, copyOf(value))
    return followed.get(value)
  }
  function copyOf(value: Json): unknown {
    const { $ref: reference, ...rest } = withConstraints(value)
    for (const key in rest) rest[key] = follow(rest[key])
    if (typeof reference !== 'string') return rest
    const target = follow(valueAt(document, reference.slice(1)))
    return Object.keys(rest).length === 0 ? target : { ...(target as Json), ...rest }
  }
  return follow(document)
}
