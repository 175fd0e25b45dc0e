import type { ResponseContract } from '../../src/contract/api.ts'
import { createCompiler, UUID } from '../../src/contract/schema-compiler.ts'
import { type Violation, violationOf } from '../../src/ground/schema.ts'

const compile = createCompiler({ uuid: UUID })

/** What is wrong with the header fields of a response, which are by lower-case name. Undeclared ones are not checked. */
export function headerViolations(
  { headers }: Pick<ResponseContract, 'headers'>,
  given: Readonly<Record<string, string>>,
): Violation[] {
  const declared = Object.entries(headers).map(([name, header]) => ({ ...header, name: name.toLowerCase() }))
  const schema = {
    type: 'object',
    required: declared.filter(({ required }) => required === true).map(({ name }) => name),
    properties: Object.fromEntries(declared.map(({ name, schema }) => [name, schema])),
  }
  const present = declared.filter(({ name }) => Object.hasOwn(given, name))
  // A field that came twice, such as `30, 30`, is no integer.
  const value = (name: string, { type }: { type?: unknown }) =>
    type === 'integer' && /^-?\d+$/.test(given[name] ?? '') ? Number(given[name]) : given[name]
  const fields = Object.fromEntries(present.map(({ name, schema }) => [name, value(name, schema)]))
  return compile(schema)(fields).map(violationOf)
}
