import { hash } from 'node:crypto'
import type { Ajv2020, Format, Options } from 'ajv/dist/2020.js'
import type { Json } from '../ground/json.ts'
import { loadModule } from '../ground/package-files.ts'
import { setTimeout } from '../ground/timers.ts'
import type { Validate } from './bounded-check.ts'
import type { ApiDocument } from './document.ts'
import { SCHEMA_EXTENSIONS } from './extensions.ts'

/** The result of a validator: every error, or only whether there is one, which is faster. */
export type Detail = 'errors' | 'validity'

/** The format of the service's own ids. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export type Formats = Readonly<Record<string, Format>>

export type SchemaCompiler = (schema: Json, detail: Detail) => Validate

/** Creates the compiler for the schemas of a document. */
export type CompilerSource = (document: ApiDocument, formats: Formats) => Promise<SchemaCompiler>

/** Uses the validators of the build, or if there are none, ajv. */
export const compilerFor: CompilerSource = async ({ prepared, validated }, formats) => {
  if (prepared !== undefined) return preparedCompiler(prepared.validatorsPath, formats)
  const ajv = await createAjv(formats, { validateSchema: false })
  if (!validated) checking ??= createAjv({}, {})
  const checker = validated ? undefined : await checking
  return (schema, detail) => {
    checker?.errors.validateSchema(schema, true)
    return ajv[detail].compile(schema)
  }
}

/** Compiles schemas that are already validated, with ajv, which is loaded for the first of them. */
export function createLazyCompiler(formats: Formats, options: Options = {}): SchemaCompiler {
  let ajv: Record<Detail, Ajv2020> | undefined
  return (schema, detail) => {
    ajv ??= loadAjv(formats, { validateSchema: false, allowUnionTypes: true, ...options })
    return ajv[detail].compile(schema)
  }
}

/**
 * A source for many variants of one document, which are all already validated. A schema that variants share is compiled
 * once, because that takes longer than the rest of loading. The shared validator uses the formats of its caller.
 */
export function createSharedSource(): CompilerSource {
  const compiled = new Map<string, Validate>()
  let present: Formats = {}
  let compile: SchemaCompiler | undefined
  function createOnce(formats: Formats) {
    const named = Object.entries(formats).map(([name, format]): [string, Format] => [
      name,
      typeof format === 'function' ? (text: string) => (present[name] as typeof format)(text) : format,
    ])
    return createLazyCompiler(Object.fromEntries(named))
  }
  return async (_, formats) => {
    compile ??= createOnce(formats)
    const compileOne = compile
    return (schema, detail) => {
      const name = nameOf(schema)
      const shared = compiled.get(detail + name) ?? compileOne(schema, detail)
      compiled.set(detail + name, shared)
      const validate: Validate = (value) => {
        present = formats
        const valid = shared(value)
        validate.errors = shared.errors
        return valid
      }
      return validate
    }
  }
}

/** Checks the schemas of all documents of the process, because compiling the schema of schemas takes 25 ms. */
let checking: Promise<Record<Detail, Ajv2020>> | undefined

/** The build uses the same options, so that its validators find the same errors. */
export async function createAjv(formats: Formats, options: Options): Promise<Record<Detail, Ajv2020>> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  return makeAjv(Ajv2020, formats, options)
}

function loadAjv(formats: Formats, options: Options): Record<Detail, Ajv2020> {
  const loaded = loadModule('ajv/dist/2020.js') as { Ajv2020: typeof Ajv2020 }
  return makeAjv(loaded.Ajv2020, formats, options)
}

function makeAjv(Validator: typeof Ajv2020, formats: Formats, options: Options): Record<Detail, Ajv2020> {
  const vocabulary = [...SCHEMA_EXTENSIONS, 'example']
  // In binary, a number such as 99.9 is no exact multiple of 0.1.
  const usual = { strictTypes: false, multipleOfPrecision: 9, formats, ...options }
  return {
    errors: new Validator({ ...usual, allErrors: true, verbose: true }).addVocabulary(vocabulary),
    validity: new Validator({ ...usual, messages: false }).addVocabulary(vocabulary),
  }
}

/** The name of a schema's prepared validator. It depends on the whole schema, so it is never that of another schema. */
export function nameOf(schema: Json): string {
  return hash('sha256', JSON.stringify(schema))
}

/** The exports of the module with the prepared validators. */
type PreparedValidators = Readonly<Record<Detail, Readonly<Record<string, (formats: Formats) => Validate>>>>

/** In milliseconds: most starts have ended by then. */
const SOON = 20

function preparedCompiler(path: string, formats: Formats): SchemaCompiler {
  const loadOnce = () => loadModule(`./${path}`) as PreparedValidators
  // A start does not wait for this. It is loaded soon after, because later the process may have too many open files.
  setTimeout(() => {
    try {
      loadOnce()
    } catch {
      // The first caller tries again and reports the error.
    }
  }, SOON).unref()
  return (schema, detail) => {
    const open = loadOnce()[detail][nameOf(schema)]
    if (open === undefined) throw new Error('The build has prepared no validator of a schema.')
    return open(formats)
  }
}
