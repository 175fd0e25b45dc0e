import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'

let shared: Ajv2020 | undefined

/** Compiles the schemas that this program holds its own files and documents to. */
export function schemaCompiler(): Ajv2020 {
  shared ??= new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true })
  return shared
}

/** An ajv error as the end of one sentence about `subject`. */
export function sentenceOf(subject: string, error: ErrorObject | undefined): string {
  if (error === undefined) return `${subject} is not valid.`
  const { keyword, params, message } = error
  switch (keyword) {
    case 'enum':
      return `${subject} must be one of ${params['allowedValues'].map((value: unknown) => JSON.stringify(value)).join(', ')}.`
    case 'additionalProperties':
      return `${subject} has no field ${params['additionalProperty']}.`
    case 'required':
      return `${subject} needs the field ${params['missingProperty']}.`
    default:
      return `${subject} ${message}.`
  }
}
