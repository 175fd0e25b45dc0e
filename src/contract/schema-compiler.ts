import type { Ajv2020, ErrorObject, Format, Options } from 'ajv/dist/2020.js'
import type { Json } from '../ground/json.ts'
import { loadModule } from '../ground/package-files.ts'
import { SCHEMA_EXTENSIONS } from './extensions.ts'

/** What a validator finds: all errors, or the first one, which is faster. */
export type Extent = 'all' | 'first'

/** The format of the service's own ids. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Finds the errors of a value. */
export type FindErrors = (value: unknown) => readonly ErrorObject[]
export type SchemaCompiler = (schema: Json, extent: Extent) => FindErrors

const NONE: readonly never[] = []

/** A compiler of schemas. It loads ajv for the first of them. Schemas that are written alike have one validator. */
export function createCompiler(formats: Readonly<Record<string, Format>>, options: Options = {}): SchemaCompiler {
  const ajvs: Partial<Record<Extent, Ajv2020>> = {}
  const compiled = new Map<string, FindErrors>()
  return (schema, extent) => {
    const key = extent + JSON.stringify(schema)
    let find = compiled.get(key)
    if (find === undefined) {
      const { Ajv2020 } = loadModule('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
      const usual = { strictTypes: false, allowUnionTypes: true, validateSchema: false, verbose: true, formats }
      // In binary, a number such as 99.9 is no exact multiple of 0.1.
      ajvs[extent] ??= new Ajv2020({
        ...usual,
        multipleOfPrecision: 9,
        allErrors: extent === 'all',
        ...options,
      }).addVocabulary([...SCHEMA_EXTENSIONS, 'example'])
      const validate = ajvs[extent].compile(schema)
      find = (value) => (validate(value) ? NONE : (validate.errors ?? NONE))
      compiled.set(key, find)
    }
    return find
  }
}
