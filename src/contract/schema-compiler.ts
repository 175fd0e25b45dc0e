import { hash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { Ajv2020, Format, Options } from 'ajv/dist/2020.js'
import type { Json } from '../ground/json.ts'
import type { Validate } from './bounded-check.ts'
import type { ApiDocument } from './document.ts'
import { SCHEMA_EXTENSIONS } from './extensions.ts'

/** What a validator tells of a value: every error, or whether there is one, for what is asked of every request. */
export type Detail = 'errors' | 'validity'

export type Formats = Readonly<Record<string, Format>>

export type SchemaCompiler = (schema: Json, detail: Detail) => Validate

/** What compiles the schemas of a document. */
export type CompilerSource = (document: ApiDocument, formats: Formats) => Promise<SchemaCompiler>

/** Takes what the build has made of the schemas, if it has, and otherwise ajv. */
export const compilerFor: CompilerSource = async ({ prepared, validated }, formats) => {
  if (prepared !== undefined) return preparedCompiler(prepared.validatorsPath, formats)
  // To hold schemas to the schema of schemas, it would have to be compiled first: 50 ms that a validated one need not wait.
  const ajv = await createAjv(formats, { validateSchema: !validated })
  return (schema, detail) => ajv[detail].compile(schema)
}

/** Those of the build are made with the same options, so that they tell the same. */
export async function createAjv(formats: Formats, options: Options): Promise<Record<Detail, Ajv2020>> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  const vocabulary = [...SCHEMA_EXTENSIONS, 'example']
  const usual = { strictTypes: false, formats, ...options }
  return {
    // Numbers such as 99.9 are no exact multiples of 0.1 in binary.
    errors: new Ajv2020({ ...usual, allErrors: true, verbose: true, multipleOfPrecision: 9 }).addVocabulary(vocabulary),
    validity: new Ajv2020({ ...usual, messages: false }).addVocabulary(vocabulary),
  }
}

/** By which name a validator that was prepared is found: only one of the very same schema is ever taken. */
export function nameOf(schema: Json): string {
  return hash('sha256', JSON.stringify(schema))
}

const load = createRequire(import.meta.url)

/** What the module of the validators that the build has made exports. */
type PreparedValidators = Readonly<Record<Detail, Readonly<Record<string, (formats: Formats) => Validate>>>>

function preparedCompiler(path: string, formats: Formats): SchemaCompiler {
  const loadOnce = () => load(path) as PreparedValidators
  // As soon as there is nothing else to do: a start does not wait for it, and the first request that comes when no file
  // can be opened any more finds it loaded.
  setImmediate(() => {
    try {
      loadOnce()
    } catch {
      // The first that needs it tries again, and says what is wrong.
    }
  })
  return (schema, detail) => {
    const open = loadOnce()[detail][nameOf(schema)]
    if (open === undefined) throw new Error('The build has prepared no validator of a schema.')
    return open(formats)
  }
}
