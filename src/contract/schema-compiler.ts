import type { Ajv2020, ErrorObject, Format, Options } from 'ajv/dist/2020.js'
import type { Json } from '../ground/json.ts'
import { loadModule } from '../ground/package-files.ts'
import { SCHEMA_EXTENSIONS } from './extensions.ts'

/** What a validator finds: all errors, or the first one, which is faster. */
export type Extent = 'all' | 'first'

/** The format of the service's own ids. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export type Formats = Readonly<Record<string, Format>>

export interface Validate {
  (value: unknown): boolean
  errors?: ErrorObject[] | null | undefined
}

export type SchemaCompiler = (schema: Json, extent: Extent) => Validate

/** A compiler of schemas. It loads ajv for the first of them. Schemas that are written alike have one validator. */
export function createCompiler(formats: Formats, options: Options): SchemaCompiler {
  const ajvs: Partial<Record<Extent, Ajv2020>> = {}
  const compiled = new Map<string, Validate>()
  return (schema, extent) => {
    const key = extent + JSON.stringify(schema)
    const known = compiled.get(key)
    if (known !== undefined) return known
    ajvs[extent] ??= createAjv(formats, extent, options)
    const validate = ajvs[extent].compile(schema)
    compiled.set(key, validate)
    return validate
  }
}

function createAjv(formats: Formats, extent: Extent, options: Options): Ajv2020 {
  const { Ajv2020 } = loadModule('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  // In binary, a number such as 99.9 is no exact multiple of 0.1.
  const usual = { strictTypes: false, allowUnionTypes: true, multipleOfPrecision: 9, verbose: true, formats }
  return new Ajv2020({ ...usual, allErrors: extent === 'all', ...options }).addVocabulary([
    ...SCHEMA_EXTENSIONS,
    'example',
  ])
}
