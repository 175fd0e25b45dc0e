import { type Choices, readChoices } from '../../src/contract/choices.ts'
import { type ContractVariant, compileVariants, Permitted } from '../../src/evidence/permitted.ts'

export interface Documented {
  choices: Choices
  variants: readonly ContractVariant[]
  permitted: Permitted
}

let documented: Promise<Documented> | undefined

/** What the document permits, compiled once for all tests of a worker. */
export function readPermitted(): Promise<Documented> {
  documented ??= compile()
  return documented
}

async function compile(): Promise<Documented> {
  const choices = await readChoices([])
  const variants = await compileVariants(choices)
  return { choices, variants, permitted: await Permitted.read(choices, variants) }
}
