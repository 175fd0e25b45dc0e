import type { Json } from '../ground/json.ts'
import type { Api } from './api.ts'
import { type CompilerSource, createAjv, type Detail, type Formats, nameOf } from './schema-compiler.ts'

/** Compiles an API. Returns its document, and the text of a module with all its validators. */
export async function compileStandalone(
  compile: (compilerFor: CompilerSource) => Promise<Api>,
): Promise<{ source: Json; validators: string }> {
  const schemas: Record<Detail, Json[]> = { errors: [], validity: [] }
  let formats: Formats = {}
  const { document } = await compile(async (_, given) => {
    formats = given
    return (schema, detail) => {
      schemas[detail].push(schema)
      return () => true
    }
  })
  const named = (list: readonly Json[]) => new Map(list.map((schema) => [nameOf(schema), schema]))
  const all = { errors: named(schemas.errors), validity: named(schemas.validity) }
  return { source: document.source, validators: await writeStandalone(all, formats) }
}

/** The text of a module with validators of named schemas. They take their formats when they are opened. */
async function writeStandalone(
  schemas: Readonly<Record<Detail, ReadonlyMap<string, Json>>>,
  formats: Formats,
): Promise<string> {
  const { errors, validity } = schemas
  const texts = [await writeValidators(errors, 'errors', formats), await writeValidators(validity, 'validity', formats)]
  const content = `module.exports = {\n${texts.join(',\n')}\n}\n`
  // The module loads its dependencies at once: later, the process may have too many open files.
  const required = [...new Set(content.match(/\brequire\("[\w./-]+"\)/g))].sort()
  return `${["'use strict'", ...required].join('\n')}\n${content}`
}

/** The validators by name. Each is in its own function, which costs little until it is called. */
async function writeValidators(schemas: ReadonlyMap<string, Json>, detail: Detail, formats: Formats): Promise<string> {
  const { _ } = await import('ajv/dist/2020.js')
  const { default: standalone } = await import('ajv/dist/standalone/index.js')
  const options = { code: { source: true, lines: true, formats: _`formats` }, allowUnionTypes: true }
  const ajv = (await createAjv(formats, options))[detail]
  const functions = [...schemas].map(([name, schema]) => {
    const code = standalone.default(ajv, ajv.compile(schema))
    return `${JSON.stringify(name)}(formats) {\nconst module = {}\n${code}\nreturn module.exports\n}`
  })
  return `${detail}: {\n${functions.join(',\n')}\n}`
}
