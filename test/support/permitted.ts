import type { Choices } from '../../src/contract/choices.ts'
import { type ContractVariant, compileVariants, Permitted } from '../../src/evidence/permitted.ts'
import { choices } from './choices.ts'

export interface Documented {
  choices: Choices
  variants: readonly ContractVariant[]
  permitted: Permitted
}

/** What the document permits, compiled once for all tests of a worker. */
export async function readPermitted(): Promise<Documented> {
  return { choices, variants: await compileVariants(choices), permitted: await Permitted.read(choices) }
}
