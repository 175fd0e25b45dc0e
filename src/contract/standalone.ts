import { loadModule } from '../ground/files.ts'
import { compileApi } from './api-compiler.ts'
import type { ApiDocument } from './document.ts'
import { createAjv, nameOf, UUID } from './schema-compiler.ts'

const STANDALONE = 'ajv/dist/standalone/index.js'
const anything = () => true
const FORMATS = { uuid: UUID, hostname: anything, 'idn-hostname': anything, 'date-time': anything, duration: anything }

/**
 * The validators of a document as a CommonJS module: by the name of its schema, a function from the formats to a validator,
 * which is parsed when it is called. The build writes it, so that who takes the document as it is needs no ajv. `answers`:
 * also those of responses.
 */
export async function writeValidators(document: ApiDocument, { answers = false } = {}): Promise<string> {
  const { _ } = await import('ajv/dist/2020.js')
  const { default: writeCode } = loadModule(STANDALONE) as typeof import('ajv/dist/standalone/index.js')
  const ajv = createAjv(FORMATS, { code: { source: true, formats: _`formats` } })
  const written = new Map<string, string>()
  const { operations } = compileApi(document, {
    compile(schema) {
      const code = writeCode(ajv, ajv.compile(schema))
      written.set(nameOf(schema), `(formats) => {\nconst module = {}\n${code}\nreturn module.exports\n}`)
      return () => []
    },
  })
  for (const { checkQuery, checkBody, rules, responses } of operations) {
    checkQuery({})
    checkBody({})
    for (const { matches } of rules) matches({})
    if (answers) for (const { check } of responses.values()) check({})
  }
  return `module.exports = {\n${[...written].map(([name, code]) => `${name}: ${code}`).join(',\n')}\n}\n`
}
