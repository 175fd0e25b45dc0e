import { type Json, valueAt } from '../ground/json.ts'
import { type Violation, violationOf } from '../ground/schema.ts'
import type { Validate } from './bounded-check.ts'
import { ContractError } from './contract-error.ts'
import type { ApiDocument } from './document.ts'
import type { CodeByKeyword } from './problems.ts'
import type { Detail, SchemaCompiler } from './schema-compiler.ts'

const NONE: readonly never[] = []

/** Creates the validators of a document. */
export class DocumentValidators {
  readonly #document: ApiDocument
  readonly #compile: SchemaCompiler
  /** The error codes of keywords in schemas without their own `x-error`. */
  readonly defaultCodes: CodeByKeyword

  constructor(document: ApiDocument, compile: SchemaCompiler) {
    this.#document = document
    this.#compile = compile
    this.defaultCodes = (valueAt(document.source, '/x-error-defaults') ?? {}) as CodeByKeyword
  }

  /**
   * The validator of the schema at `pointer`. If the document has been validated before, the schema is compiled at the
   * first call, because a start needs no validator. @throws ContractError
   */
  validator(schema: unknown, pointer: string, detail: Detail = 'errors'): Validate {
    const compile = (): Validate => {
      try {
        return this.#compile(schema as Json, detail)
      } catch (error) {
        throw this.error(pointer, `The schema cannot be compiled: ${(error as Error).message}.`)
      }
    }
    if (!this.#document.validated) return compile()
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
  check(schema: unknown, pointer: string): (value: unknown) => readonly Violation[] {
    const validate = this.validator(schema, pointer)
    return (value) => (validate(value) ? NONE : (validate.errors ?? []).map(violationOf))
  }

  error(pointer: string, reason: string): ContractError {
    return new ContractError(this.#document.file, pointer, reason)
  }
}
