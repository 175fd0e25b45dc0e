import type { Ajv2020, ErrorObject, Format, Options, ValidateFunction } from 'ajv/dist/2020.js'
import { isSource, loadModule } from '../ground/files.ts'
import type { Json } from '../ground/json.ts'
import { digestOf } from '../ground/secrets.ts'
import { SCHEMA_EXTENSIONS } from './extensions.ts'

/** The format of the service's own ids. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Finds the errors of a value. */
export type FindErrors = (value: unknown) => readonly ErrorObject[]
export type SchemaCompiler = (schema: Json) => FindErrors

type Formats = Readonly<Record<string, Format>>
/** What the build has written: makers of validators, which find all errors, by the names of their schemas. */
type Prepared = Readonly<Record<string, (formats: Formats) => ValidateFunction>>

const NONE: readonly never[] = []

/**
 * A compiler of schemas, in which schemas that are written alike have one validator. It is that of the file `prepared` in
 * the package, if it has one: to load ajv and to compile a schema takes longer than a start without them. By default a
 * validator finds all errors.
 */
export function createCompiler(
  formats: Formats,
  { prepared, ...options }: Options & { prepared?: string } = {},
): SchemaCompiler {
  const compiled = new Map<string, FindErrors>()
  let ajv: Ajv2020 | undefined
  function validatorOf(schema: Json, name: string): ValidateFunction {
    // Node.js keeps what it has loaded.
    const makers = prepared === undefined || isSource ? {} : (loadModule(prepared) as Prepared)
    const prepare = makers[name]
    if (prepare !== undefined) return prepare(formats)
    ajv ??= createAjv(formats, options)
    return ajv.compile(schema)
  }
  return (schema) => {
    const name = nameOf(schema)
    const known = compiled.get(name)
    if (known !== undefined) return known
    const validate = validatorOf(schema, name)
    const find: FindErrors = (value) => (validate(value) ? NONE : (validate.errors ?? NONE))
    compiled.set(name, find)
    return find
  }
}

/** The same for schemas that are written alike. */
export function nameOf(schema: Json): string {
  return `of_${digestOf(JSON.stringify(schema))}`
}

export function createAjv(formats: Formats, options: Options): Ajv2020 {
  const { Ajv2020 } = loadModule('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  return new Ajv2020({
    ...{ strictTypes: false, allowUnionTypes: true, validateSchema: false, verbose: true, allErrors: true, formats },
    // In binary, a number such as 99.9 is no exact multiple of 0.1.
    multipleOfPrecision: 9,
    ...options,
  }).addVocabulary([...SCHEMA_EXTENSIONS, 'example'])
}
