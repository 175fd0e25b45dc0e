import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ErrorObject } from 'ajv/dist/2020.js'
import type { OpenAPIV3_1 } from 'openapi-types'
import { ERROR_CODES } from '../domain/errors.ts'
import { isObject, type Json, pointTo, valueAt } from '../ground/json.ts'
import { violationOf } from '../ground/schema.ts'
import { Catalogue } from './catalogue.ts'
import { type CodesBySetting, placeCodes } from './codes.ts'
import { ContractError } from './contract-error.ts'
import { checkExtensions, type Extension, extensionsOf, visitFields } from './extensions.ts'
import { applyOverlay, type Overlay } from './overlay.ts'
import { type PreparedDocument, readPrepared } from './prepared.ts'
import { type RulesText, readRules } from './rules.ts'
import { parseYaml } from './yaml.ts'

/** Path of the service's OpenAPI document. */
export const OWN_DOCUMENT = join(import.meta.dirname, '../../openapi.yaml')

/** An OpenAPI document that carries our extensions, checked as far as it can be read without following references. */
export interface DocumentText {
  /** Under which name errors speak of it. */
  file: string
  /** As written, overlays applied. */
  source: Json
  extensions: readonly Extension[]
  catalogue: Catalogue
  /**
   * Whether it came with the package and as it came. Then a test has proved it, and what only checks it is left out:
   * two thirds of the time that loading it would take.
   */
  proved: boolean
  /** What the build has made of it. */
  prepared: PreparedDocument | undefined
}

/** The same, complete: every code placed under the status that the catalogue gives it. */
export interface ApiDocument extends DocumentText {
  /** Without references. */
  resolved: OpenAPIV3_1.Document
}

export interface DocumentOptions {
  /** Path of an OpenAPI document; openapi.yaml of this package by default. */
  path?: string
  overlays?: readonly Overlay[]
  /** The codes that behaviour answers with; those of the service by default. */
  codes?: readonly string[]
  /** Whether a test has proved the document; that of this package without overlays is. */
  proved?: boolean
}

/** @throws ContractError with the place of the first thing that is wrong. */
export async function readDocument(options: DocumentOptions = {}): Promise<DocumentText> {
  const { path, overlays = [], codes = ERROR_CODES } = options
  const file = path ?? 'openapi.yaml'
  const proved = options.proved ?? (path === undefined && overlays.length === 0)
  const text = readText(path ?? OWN_DOCUMENT, file)
  const prepared = proved ? readPrepared(text) : undefined
  let source = prepared?.source ?? (await parseSource(text.toString(), file))
  for (const overlay of overlays) source = await applyOverlay(source, overlay)
  // A start from what the build has prepared needs none of them.
  let found: Extension[] | undefined
  const extensions = () => (found ??= extensionsOf(source))
  if (!proved) await checkExtensions(extensions(), file)
  const catalogue = Catalogue.read(source, codes, file)
  if (prepared === undefined) {
    checkCodes(extensions(), catalogue, file)
    checkReferences(source, file)
    checkIds(extensions(), file)
  }
  return {
    file,
    source,
    get extensions() {
      return extensions()
    },
    catalogue,
    proved,
    prepared,
  }
}

/** @throws ContractError with the place of the first thing that is wrong. */
export async function resolveDocument(text: DocumentText): Promise<ApiDocument> {
  const { prepared, catalogue, file, proved } = text
  const source = prepared?.source ?? placeCodes(text.source, catalogue, file)
  if (!proved) await prove(source, file)
  const resolved = followReferences(source) as OpenAPIV3_1.Document
  // Not a copy: that would ask for the extensions.
  return Object.assign(text, { source, resolved })
}

function readText(path: string, file: string): Buffer {
  try {
    // At once: what a start reads, it would wait for longer than that takes, 0.4 ms for each file.
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
 * A copy with what is referred to in the place of each reference, once for all; `checkReferences` has seen that they
 * lead somewhere and not back. Done at each start: to read a file in which it is done takes longer, 1.5 ms of 15.
 */
function followReferences(document: Json): unknown {
  const followed = new Map<Json, unknown>()
  function follow(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(follow)
    if (!isObject(value)) return value
    const known = followed.get(value)
    if (known !== undefined) return known
    const { $ref: reference, ...rest } = value
    for (const key in rest) rest[key] = follow(rest[key])
    const target = typeof reference === 'string' ? follow(valueAt(document, reference.slice(1))) : undefined
    const result = target === undefined ? rest : Object.keys(rest).length === 0 ? target : { ...target, ...rest }
    followed.set(value, result)
    return result
  }
  return follow(document)
}

/** Holds the document to OpenAPI 3.1. */
async function prove(source: Json, file: string): Promise<void> {
  const { default: SwaggerParser } = await import('@apidevtools/swagger-parser')
  try {
    await SwaggerParser.validate(structuredClone(source) as never, { resolve: { external: false } })
  } catch (error) {
    const [first] = (error as { details?: ErrorObject[] }).details ?? []
    if (first) {
      const { pointer, reason } = violationOf(first)
      throw new ContractError(file, pointer, `The value ${reason}.`)
    }
    throw new ContractError(file, '', `${(error as Error).message.split('\n')[0]?.replace(/\.$/, '')}.`)
  }
}

/** Every code that an extension names must be one of the catalogue. */
function checkCodes(extensions: readonly Extension[], catalogue: Catalogue, file: string): void {
  for (const { key, value, holder } of extensions) {
    for (const { step, code } of namedCodes(key, value)) {
      if (!catalogue.has(code)) {
        throw new ContractError(
          file,
          `${holder}/${key}/${step}`,
          `The code ${code} is not in the catalogue /components/x-errors.`,
        )
      }
    }
  }
}

function namedCodes(key: string, value: unknown): { step: string; code: string }[] {
  if (['x-codes', 'x-error', 'x-error-defaults'].includes(key)) {
    return Object.entries(value as Record<string, string>).map(([step, code]) => ({ step, code }))
  }
  if (key === 'x-codes-by-setting') {
    return Object.entries(value as CodesBySetting).flatMap(([setting, codes]) =>
      Object.entries(codes).map(([given, code]) => ({ step: pointTo(setting, given), code })),
    )
  }
  if (key !== 'x-rule') return []
  return readRules(value as RulesText, '').flatMap(({ id, refuses }) =>
    refuses.flatMap(({ code }, index) => (code === undefined ? [] : [{ step: `${id}/refuses/${index}`, code }])),
  )
}

/** Ids of assumptions and rules are how people and tests speak of them, so each stands for one thing. */
function checkIds(extensions: readonly Extension[], file: string): void {
  const places = new Map<string, string>()
  for (const { key, value, holder } of extensions) {
    const ids =
      key === 'x-assumption' ? [(value as { id: string }).id] : key === 'x-rule' ? Object.keys(value as Json) : []
    for (const id of ids) {
      const name = `${key} ${id}`
      const former = places.get(name)
      if (former !== undefined) throw new ContractError(file, `${holder}/${key}`, `The id ${id} is taken by ${former}.`)
      places.set(name, `${holder}/${key}`)
    }
  }
}

/** Every reference must lead to a place in the document, and not back to what it is part of. */
function checkReferences(source: Json, file: string): void {
  const references: { pointer: string; target: string }[] = []
  visitFields(source, (key, value, holder) => {
    if (key !== '$ref' || typeof value !== 'string') return
    const pointer = `${holder}/$ref`
    if (!value.startsWith('#/')) {
      throw new ContractError(file, pointer, `The reference ${value} leads out of the document; only #/… is followed.`)
    }
    references.push({ pointer, target: value.slice(1) })
  })
  for (const { pointer, target } of references) {
    if (valueAt(source, target) === undefined) throw new ContractError(file, pointer, `There is nothing at ${target}.`)
  }
  const sound = new Set<string>()
  function follow(place: string, path: ReadonlySet<string>): void {
    if (sound.has(place)) return
    for (const { pointer, target } of references.filter((reference) => reference.pointer.startsWith(`${place}/`))) {
      if (path.has(target)) throw new ContractError(file, pointer, 'The reference leads back to what it is part of.')
      follow(target, new Set([...path, target]))
    }
    sound.add(place)
  }
  for (const { target } of references) follow(target, new Set([target]))
}

/** The rules of the document: id → what the specification demands. */
export function rulesOf({ extensions }: DocumentText): ReadonlyMap<string, string> {
  return new Map(
    extensions
      .filter(({ key }) => key === 'x-rule')
      .flatMap(({ value, holder }) => readRules(value as RulesText, holder))
      .map(({ id, says }) => [id, says]),
  )
}
