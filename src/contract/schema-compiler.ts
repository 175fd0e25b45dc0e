import type { Ajv2020, ErrorObject, Format, Options, ValidateFunction } from 'ajv/dist/2020.js'
import type { Json } from '../ground/json.ts'
import { isSource, loadModule } from '../ground/package-files.ts'
import { digestOf } from '../ground/secrets.ts'
import { SCHEMA_EXTENSIONS } from './extensions.ts'

/** What a validator finds: all errors, or the first one, which is faster. */
export type Extent = 'all' | 'first'

/** The format of the service's own ids. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Finds the errors of a value. */
export type FindErrors = (value: unknown) => readonly ErrorObject[]
export type SchemaCompiler = (schema: Json, extent?: Extent) => FindErrors

type Formats = Readonly<Record<string, Format>>
/** What the build has written: makers of validators, which find all errors, by the names of their schemas. */
type Prepared = Readonly<Record<string, (formats: Formats) => ValidateFunction>>

const NONE: readonly never[] = []

/**
 * A compiler of schemas, in which schemas that are written alike have one validator. It is that of the file `prepared` in
 * the package, if it has one: to load ajv and to compile a schema takes longer than a start without them.
 */
export function createCompiler(
  formats: Formats,
  { prepared, ...options }: Options & { prepared?: string } = {},
): SchemaCompiler {
  const ajvs: Partial<Record<Extent, Ajv2020>> = {}
  const compiled = new Map<string, FindErrors>()
  function ajvFor(extent: Extent): Ajv2020 {
    ajvs[extent] ??= createAjv(formats, extent, options)
    return ajvs[extent]
  }
  return (schema, extent = 'all') => {
    const name = nameOf(schema)
    let find = compiled.get(extent + name)
    if (find === undefined) {
      const prepare = prepared === undefined || isSource || extent !== 'all' ? undefined : makersIn(prepared)[name]
      const validate = prepare?.(formats) ?? ajvFor(extent).compile(schema)
      find = (value) => (validate(value) ? NONE : (validate.errors ?? NONE))
      compiled.set(extent + name, find)
    }
    return find
  }
}

/** Node.js keeps what it has loaded. */
function makersIn(prepared: string): Prepared {
  return loadModule(prepared) as Prepared
}

/** The same for schemas that are written alike. */
export function nameOf(schema: Json): string {
  return `of_${digestOf(JSON.stringify(schema))}`
}

export function createAjv(formats: Formats, extent: Extent, options: Options): Ajv2020 {
  const { Ajv2020 } = loadModule('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  return new Ajv2020({
    ...{ strictTypes: false, allowUnionTypes: true, validateSchema: false, verbose: true, formats },
    // In binary, a number such as 99.9 is no exact multiple of 0.1.
    multipleOfPrecision: 9,
    allErrors: extent === 'all',
    ...options,
  }).addVocabulary([...SCHEMA_EXTENSIONS, 'example'])
}
