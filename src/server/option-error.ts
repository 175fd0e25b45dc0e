import { show } from '../ground/show.ts'
import type { ServerOptions } from './options.ts'

/** The spelling of an option, or of a switch to turn off: `admin: false` in a program, `--no-admin` as a flag. */
export type Spell = (option: keyof ServerOptions, value?: false) => string

const spellInProgram: Spell = (option, value) => (value === undefined ? option : `${option}: ${value}`)

/** An option whose value is refused, with a remedy. */
export class OptionError extends Error {
  override name = 'OptionError'
  readonly option: keyof ServerOptions
  readonly remedy: string
  readonly #remedyAs: (spell: Spell) => string

  /** A remedy that names other options is a function, because options have several spellings. */
  constructor(option: keyof ServerOptions, value: unknown, remedy: string | ((spell: Spell) => string)) {
    const remedyAs = typeof remedy === 'string' ? () => remedy : remedy
    const said = remedyAs(spellInProgram)
    super(`${option} ${show(value)}: ${said}${said.endsWith('?') ? '' : '.'}`)
    this.option = option
    this.remedy = said
    this.#remedyAs = remedyAs
  }

  /** The remedy in another spelling of options. */
  remedyAs(spell: Spell): string {
    return this.#remedyAs(spell)
  }
}
