import type { OpenAPIV3_1 } from 'openapi-types'
import { ERROR_CODES } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import { FirstResults } from '../ground/memo.ts'
import { readPackageFile } from '../ground/package-files.ts'
import { Catalogue } from './catalogue.ts'
import { type PlacedOperations, placeCodes } from './codes.ts'
import { ContractError } from './contract-error.ts'
import { checkCodes, checkConstraints, checkIds, checkOpenApi, checkReferences } from './document-checks.ts'
import { checkExtensions, type Extension, extensionsOf, withConstraints } from './extensions.ts'
import { applyOverlay, type Overlay } from './overlay.ts'
import { type PreparedDocument, readFindings, readPrepared, writeFindings } from './prepared.ts'
import { placeHeaders } from './response-headers.ts'
import { parseYaml } from './yaml.ts'

/** The service's OpenAPI document in the package. Error messages name it so, too. */
export const OWN_DOCUMENT = 'openapi.yaml'

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
   * changed it. Then checks that would only find mistakes in it are skipped. They take two thirds of the loading time.
   */
  validated: boolean
  /** The result of the build for this document. */
  prepared: PreparedDocument | undefined
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
  /** With it, what the document shares with others is resolved once. */
  references?: SharedReferences
}

/** The document of this package as written, with overlays applied and without checks. @throws ContractError */
export async function readSource(overlays: readonly Overlay[] = []): Promise<Json> {
  let source = await readWritten(readText(OWN_DOCUMENT), OWN_DOCUMENT)
  for (const overlay of overlays) source = await applyOverlay(source, overlay)
  return source
}

/** Reads a document and does all checks that need no resolved references. @throws ContractError */
export async function readDocument(options: DocumentOptions = {}): Promise<DocumentText> {
  const { path, overlays = [], longestWindow = Number.POSITIVE_INFINITY, codes = ERROR_CODES } = options
  const file = path ?? OWN_DOCUMENT
  const validated = options.validated ?? (path === undefined && overlays.length === 0)
  const text = options.source ?? readText(file)
  let prepared = validated && Buffer.isBuffer(text) ? readPrepared(text) : undefined
  let source = prepared?.source ?? (Buffer.isBuffer(text) ? await readWritten(text, file) : text)
  for (const overlay of overlays) source = await applyOverlay(source, overlay)
  source = cutWindows(source, longestWindow)
  prepared &&= { ...prepared, source }
  // The extensions are collected on first use. A start with a prepared document does not need them.
  let found: Extension[] | undefined
  const extensions = () => (found ??= extensionsOf(source))
  if (!validated) await checkExtensions(extensions(), file)
  const catalogue = Catalogue.read(source, codes, file)
  if (prepared === undefined && !(validated && options.source !== undefined)) {
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
    prepared,
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
export async function resolveDocument(
  text: DocumentText,
  settings?: Settings,
  references?: SharedReferences,
): Promise<ApiDocument> {
  const { prepared, catalogue, file, validated } = text
  const source = prepared?.source ?? placeCodes(text.source, catalogue, file, references?.placed)
  if (prepared === undefined && settings !== undefined) placeHeaders(source, settings)
  if (!validated) await checkOpenApi(source, file)
  const resolved = followReferences(source, references) as OpenAPIV3_1.Document
  // The same object is returned, because a copy would evaluate the property `extensions`.
  return Object.assign(text, { source, resolved })
}

function readText(file: string): Buffer {
  try {
    return readPackageFile(file)
  } catch (error) {
    throw new ContractError(file, '', `The document cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** The name of the findings of the build with a document as it is written. */
const WRITTEN = 'written'

/** A document as it is written. The build keeps that of the package as JSON, which is read in a fraction of the time. */
async function readWritten(text: Buffer, file: string): Promise<Json> {
  return (readFindings(text, WRITTEN) as Json | undefined) ?? parseSource(text, file)
}

/** Stores what `readWritten` reads for the document of the package. */
export async function keepWritten(): Promise<void> {
  const text = readText(OWN_DOCUMENT)
  await writeFindings(text, WRITTEN, await parseSource(text, OWN_DOCUMENT))
}

async function parseSource(text: Buffer, file: string): Promise<Json> {
  const source = await parseYaml(text.toString(), file)
  if (!isObject(source)) throw new ContractError(file, '', 'An OpenAPI document must be an object.')
  return source
}

/**
 * Resolves the references of documents that share parts. A part that no change has reached is resolved once for all of
 * them: hundreds of documents may differ from the first one by a few words each.
 */
export interface SharedReferences {
  readonly parts: WeakMap<Json, ResolvedPart>
  /** The targets of the first document, by JSON pointer. */
  readonly targets: Map<string, unknown>
  readonly placed: PlacedOperations
}

interface ResolvedPart {
  result: unknown
  /** JSON pointers to everything that it refers to, directly or not. */
  refers: ReadonlySet<string>
}

export function shareReferences(): SharedReferences {
  const placed = { codes: new FirstResults<readonly string[]>(), operations: new FirstResults<Json>() }
  return { parts: new WeakMap(), targets: new Map(), placed }
}

const NO_REFERENCES: ReadonlySet<string> = new Set()

/**
 * A copy with resolved references. The `x-constraints` of each schema become keywords of the schema. Several references
 * to one object lead to one copy. `checkReferences` has excluded missing targets and cycles. Each start does this
 * again: reading a file with the result would take longer, 1.5 ms of 15. Only what documents share is recorded, because
 * that takes five times as long.
 */
export function followReferences(document: Json, shared?: SharedReferences): unknown {
  const present = new Map<string, unknown>()
  const followed = new Map<Json, ResolvedPart>()
  function targetOf(reference: string): unknown {
    if (!present.has(reference)) present.set(reference, valueAt(document, reference))
    return present.get(reference)
  }
  function follow(value: unknown, refers?: Set<string>): unknown {
    if (Array.isArray(value)) return value.map((item) => follow(item, refers))
    if (!isObject(value)) return value
    const part = followed.get(value) ?? reusable(value) ?? followAnew(value)
    if (refers !== undefined) for (const reference of part.refers) refers.add(reference)
    return part.result
  }
  function reusable(value: Json): ResolvedPart | undefined {
    const part = shared?.parts.get(value)
    if (part === undefined || !leadToSame(part.refers)) return undefined
    followed.set(value, part)
    return part
  }
  /** Whether the references lead to the same objects as in the first document. */
  function leadToSame(references: ReadonlySet<string>): boolean {
    for (const reference of references) {
      const target = targetOf(reference)
      if (shared?.targets.has(reference) === false) shared.targets.set(reference, target)
      if (shared?.targets.get(reference) !== target) return false
    }
    return true
  }
  function followAnew(value: Json): ResolvedPart {
    const found = shared && new Set<string>()
    const { $ref: reference, ...rest } = withConstraints(value)
    for (const key in rest) rest[key] = follow(rest[key], found)
    let target: unknown
    if (typeof reference === 'string') {
      found?.add(reference.slice(1))
      target = follow(targetOf(reference.slice(1)), found)
    }
    const result =
      target === undefined ? rest : Object.keys(rest).length === 0 ? target : { ...(target as Json), ...rest }
    const part = { result, refers: found === undefined || found.size === 0 ? NO_REFERENCES : found }
    followed.set(value, part)
    if (leadToSame(part.refers)) shared?.parts.set(value, part)
    return part
  }
  return follow(document)
}
