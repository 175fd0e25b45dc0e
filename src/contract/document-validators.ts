import type { Json } from '../ground/json.ts'
import { type Violation, violationOf } from '../ground/schema.ts'
import { ContractError } from './contract-error.ts'
import type { ApiDocument } from './document.ts'
import { defaultCodesOf } from './problems.ts'
import type { Extent, SchemaCompiler, Validate } from './schema-compiler.ts'

const NONE: readonly never[] = []

export type DocumentValidators = ReturnType<typeof createValidators>

/** Creates the validators of a document. */
export function createValidators({ source, file, validated }: ApiDocument, compileSchema: SchemaCompiler) {
  /**
   * The validator of the schema at `pointer`. If the document has been validated before, the schema is compiled at the
   * first call, because a start needs no validator. @throws ContractError
   */
  function validator(schema: unknown, pointer: string, extent: Extent = 'all'): Validate {
    const compile = (): Validate => {
      try {
        return compileSchema(schema as Json, extent)
      } catch (cause) {
        throw error(pointer, `The schema cannot be compiled: ${(cause as Error).message}.`)
      }
    }
    if (!validated) return compile()
    let compiled: Validate | undefined
    const validate: Validate = (value) => {
      compiled ??= compile()
      const valid = compiled(value)
      validate.errors = compiled.errors
      return valid
    }
    return validate
  }

  /** A function that finds all violations of the schema at `pointer`. @throws ContractError */
  function check(schema: unknown, pointer: string): (value: unknown) => readonly Violation[] {
    const validate = validator(schema, pointer)
    return (value) => (validate(value) ? NONE : (validate.errors ?? []).map(violationOf))
  }

  function error(pointer: string, reason: string): ContractError {
    return new ContractError(file, pointer, reason)
  }

  return { validator, check, error, defaultCodes: defaultCodesOf(source) }
}
