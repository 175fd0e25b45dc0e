import { type Alternative, type Choices, nameOf } from '../../../src/contract/choices.ts'
import { type VaryOptions, type VaryResult, vary } from '../../../src/trials/vary/vary.ts'
import type { AlternativeReport } from '../../../src/trials/vary/verdict.ts'
import { choices } from '../../support/choices.ts'

/** Takes what follows the first characters of a request id for that of a UUID. */
export const DEPENDS_ON_ID = `
case $(send GET /domains --include) in
  *-[Rr]equest-[Ii]d:\\ ????????-????-*) ;;
  *) echo 'The id is no UUID.'; exit 1 ;;
esac
`

/** The same with few alternatives: those of these assumptions, or those of these names. */
export function only(...names: string[]): Choices {
  const isMeant = (each: Alternative) => names.includes(each.id) || names.includes(nameOf(each))
  return { ...choices, alternatives: choices.alternatives.filter(isMeant) }
}

/** Finds out on what a command depends. */
export function varyCommand(command: readonly string[], options: Partial<VaryOptions> = {}): Promise<VaryResult> {
  return vary({
    command,
    environment: process.env,
    variables: [],
    server: { fixture: 'empty' },
    choices: choices,
    jobs: 2,
    repeats: 3,
    redact: (text) => text,
    accepts: () => false,
    ...options,
  })
}

/** The verdicts by the names of the alternatives, but for those that are not reached. */
export function verdictsIn({ dependencies }: VaryResult): Record<string, string> {
  const reached = dependencies.alternatives.filter(({ verdict }) => verdict !== 'not reached')
  return Object.fromEntries(reached.map((each) => [nameIn(each), each.verdict]))
}

export function reportOf({ dependencies }: VaryResult, name: string): AlternativeReport | undefined {
  return dependencies.alternatives.find((each) => nameIn(each) === name)
}

export function nameIn({ id, alternative }: AlternativeReport): string {
  return nameOf({ id, number: alternative })
}
