import { type Alternative, type Choices, readChoices } from '../../src/contract/choices.ts'

/**
 * The choices of the contract, for all tests of a worker: what is prepared for them is prepared once. The program in this
 * process has the same object, so that what a judgement needs is made once for both. Many tests ask about the same few hundred
 * combinations of alternatives, which are more than the program keeps; each is compiled once.
 */
export const choices: Choices = await readChoices([])
choices.compile = compileOnce(choices.compile)

function compileOnce(compile: Choices['compile']): Choices['compile'] {
  const compiled = new Map<string, ReturnType<Choices['compile']>>()
  // A test may give an alternative the name of another one.
  const numbers = new Map<Alternative, number>()
  function numberOf(alternative: Alternative): number {
    const number = numbers.get(alternative) ?? numbers.size
    numbers.set(alternative, number)
    return number
  }
  return (alternatives) => {
    const key = alternatives.map(numberOf).join(' ')
    const contract = compiled.get(key) ?? compile(alternatives)
    compiled.set(key, contract)
    return contract
  }
}
