import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OpenAPIV3_1 } from 'openapi-types'
import { ERROR_CODES } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import { Catalogue } from './catalogue.ts'
import { placeCodes } from './codes.ts'
import { withConstraints } from './constraints.ts'
import { ContractError } from './contract-error.ts'
import { checkCodes, checkConstraints, checkIds, checkOpenApi, checkReferences } from './document-checks.ts'
import { checkExtensions, type Extension, extensionsOf } from './extensions.ts'
import { applyOverlay, type Overlay } from './overlay.ts'
import { type PreparedDocument, readPrepared } from './prepared.ts'
import { placeHeaders } from './response-headers.ts'
import { type RulesText, readRules } from './rules.ts'
import { parseYaml } from './yaml.ts'

/** Path of the service's OpenAPI document. */
export const OWN_DOCUMENT = join(import.meta.dirname, '../../openapi.yaml')
/** How error messages call it. */
const OWN_NAME = 'openapi.yaml'

/** An OpenAPI document with our extensions, and with its references as they were written. */
export interface DocumentText {
  /** The name of the document in error messages. */
  file: string
  /** As written, with overlays applied. */
  source: Json
  extensions: readonly Extension[]
  catalogue: Catalogue
  /**
   * Whether the document was validated before: it comes with the package, a test validates it, and no overlay has
   * changed it. Checks that would only find mistakes in it are left out. They take two thirds of the time of loading
   * it.
   */
  validated: boolean
  /** What the build has made of it. */
  prepared: PreparedDocument | undefined
}

/** The same document with every code under the status that the catalogue gives it. */
export interface ApiDocument extends DocumentText {
  /** Without references, and with the keywords of each `x-constraints` among those of its schema. */
  resolved: OpenAPIV3_1.Document
}

export interface DocumentOptions {
  /** Path of an OpenAPI document; openapi.yaml of this package by default. */
  path?: string
  /** The document as `readSource` has read it, with which it is not read again. */
  source?: Json
  overlays?: readonly Overlay[]
  /** In seconds: a longer quota window is cut to this. No schema speaks of windows, so this invalidates no validator. */
  longestWindow?: number
  /** The codes that behaviour answers with; those of the service by default. */
  codes?: readonly string[]
  /** Whether the document was validated before; true by default for the one of this package without overlays. */
  validated?: boolean
}

/** The document of this package as it is written, with overlays applied and nothing checked. @throws ContractError */
export async function readSource(overlays: readonly Overlay[] = []): Promise<Json> {
  let source = await parseSource(readText(OWN_DOCUMENT, OWN_NAME).toString(), OWN_NAME)
  for (const overlay of overlays) source = await applyOverlay(source, overlay)
  return source
}

/** Reads a document and checks all that can be checked without following references. @throws ContractError */
export async function readDocument(options: DocumentOptions = {}): Promise<DocumentText> {
  const { path, overlays = [], longestWindow = Number.POSITIVE_INFINITY, codes = ERROR_CODES } = options
  const file = path ?? OWN_NAME
  const validated = options.validated ?? (path === undefined && overlays.length === 0)
  const text = options.source === undefined ? readText(path ?? OWN_DOCUMENT, file) : undefined
  let prepared = validated && text !== undefined ? readPrepared(text) : undefined
  let source = options.source ?? prepared?.source ?? (await parseSource(String(text), file))
  for (const overlay of overlays) source = await applyOverlay(source, overlay)
  source = cutWindows(source, longestWindow)
  prepared &&= { ...prepared, source }
  // Found when they are first needed: a start with a prepared document needs none of them.
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

/** A copy of the document in which no quota window is longer than so many seconds. */
function cutWindows(source: Json, longest: number): Json {
  const { paths } = source
  if (longest === Number.POSITIVE_INFINITY || !isObject(paths)) return source
  const items = Object.entries(paths).map(([path, item]) => {
    const quota = isObject(item) ? item['x-quota'] : undefined
    // What is no number of seconds stays, to be refused.
    const isLong = isObject(quota) && typeof quota['window'] === 'number' && quota['window'] > longest
    return [path, isLong ? { ...(item as Json), 'x-quota': { ...quota, window: longest } } : item]
  })
  return { ...source, paths: Object.fromEntries(items) }
}

/**
 * Places the codes and the headers that the settings ask for, validates the result as OpenAPI, and follows its
 * references. A document without settings has its headers where they are written. @throws ContractError
 */
export async function resolveDocument(text: DocumentText, settings?: Settings): Promise<ApiDocument> {
  const { prepared, catalogue, file, validated } = text
  const source = prepared?.source ?? placeCodes(text.source, catalogue, file)
  if (prepared === undefined && settings !== undefined) placeHeaders(source, settings)
  if (!validated) await checkOpenApi(source, file)
  const resolved = followReferences(source) as OpenAPIV3_1.Document
  // The same object, because a copy would read the property `extensions`.
  return Object.assign(text, { source, resolved })
}

function readText(path: string, file: string): Buffer {
  try {
    // Synchronous, because a start has nothing else to do meanwhile, and a promise costs it 0.4 ms for each file.
    return readFileSync(path)
  } catch (error) {
    throw new ContractError(file, '', `The document cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

async function parseSource(text: string, file: string): Promise<Json> {
  const source = await parseYaml(text, file)
  if (!isObject(source)) throw new ContractError(file, '', 'An OpenAPI document must be an object.')
  return source
}

/**
 * A copy in which each reference is replaced by what it refers to, and each schema has its `x-constraints` as keywords
 * of its own. Several references to one object lead to one copy.
 * `checkReferences` has found no reference that leads nowhere or back. Each start does this anew: to read a file with
 * the result would take longer, 1.5 ms of 15.
 */
export function followReferences(document: Json): unknown {
  const followed = new Map<Json, unknown>()
  const targets = new Map<string, unknown>()
  /** To read a pointer takes time, and there are ten references to each place. */
  function targetOf(reference: string): unknown {
    let target = targets.get(reference)
    if (target === undefined) {
      target = follow(valueAt(document, reference.slice(1)))
      targets.set(reference, target)
    }
    return target
  }
  function follow(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(follow)
    if (!isObject(value)) return value
    const known = followed.get(value)
    if (known !== undefined) return known
    const { $ref: reference, ...rest } = withConstraints(value)
    for (const key in rest) rest[key] = follow(rest[key])
    const target = typeof reference === 'string' ? targetOf(reference) : undefined
    const result = target === undefined ? rest : Object.keys(rest).length === 0 ? target : { ...target, ...rest }
    followed.set(value, result)
    return result
  }
  return follow(document)
}

/** The rules of the document: id → the sentence of the specification. */
export function rulesOf({ extensions }: DocumentText): ReadonlyMap<string, string> {
  return new Map(
    extensions
      .filter(({ key }) => key === 'x-rule')
      .flatMap(({ value, holder }) => readRules(value as RulesText, holder))
      .map(({ id, says }) => [id, says]),
  )
}
