import { isInstant } from '../domain/iso-8601.ts'
import { kebab } from '../domain/settings.ts'
import { ANY_ORIGIN } from '../service/cors.ts'

/** The values that an option takes, from a program or from a person. */
export interface OptionKind<Value> {
  /** What right values are, as the end of a refusal: `must be true or false`. It may depend on the wrong one. */
  readonly remedy: string | ((wrong: unknown) => string)
  /** How messages show a text that may hold a secret; `undefined`: not at all. By default, they repeat it. */
  shows?(written: string): string | undefined
  /** The name of the value in the help. The option may have a better one, and a switch needs none. */
  readonly placeholder?: string
  /** Whether the option may be given several times, so that the value is a list. */
  readonly repeatable?: boolean
  /** The text for the flag without a value. Most flags need a value. */
  readonly bare?: string
  /** Whether a value is of this kind. A program that is not written in TypeScript may pass any value. */
  fits(value: unknown): value is Value
  /** The meaning of a text, whether it fits or not. Without this function, only a program can give a value. */
  read?(text: string): unknown
}

/** An option that only a program can give. Its key in a table is its name. */
export interface ProgramOption<Value> {
  readonly kind: OptionKind<Value>
  /** The default value, if there is one. */
  readonly default?: Value
}

/** An option with a flag. */
export interface Option<Value> extends ProgramOption<Value> {
  /** The effect of the flag, in one or two short sentences. */
  readonly help: string
  /** What happens without the option, if the default value does not show it. */
  readonly defaultText?: string
  /** The name on the command line, if it is neither the name in kebab-case nor `no-` and that name. */
  readonly flag?: string
  readonly placeholder?: string
}

/** A table of options, in the order of the help. Tables are joined by spreading them. */
export type Options = Readonly<Record<string, Option<unknown>>>
export type ProgramOptions = Readonly<Record<string, ProgramOption<unknown>>>

type ValueOf<Row extends ProgramOption<unknown>> = Row['kind'] extends OptionKind<infer Value> ? Value : never
type Defaulted = { readonly default: unknown }
/** The values of the options of a table, once defaults are applied. */
export type Values<Table extends ProgramOptions> = {
  -readonly [Name in keyof Table]: ValueOf<Table[Name]> | (Table[Name] extends Defaulted ? never : undefined)
}

export function wholeNumber(lowest: number, highest: number): OptionKind<number> {
  return {
    remedy: `must be a whole number from ${lowest} to ${highest}`,
    placeholder: 'N',
    fits: (value): value is number =>
      Number.isSafeInteger(value) && Number(value) >= lowest && Number(value) <= highest,
    read: (written) => (/^\d+$/.test(written) ? Number(written) : Number.NaN),
  }
}

export function oneOf<const Choice extends string>(choices: readonly Choice[]): OptionKind<Choice> {
  return {
    remedy: `must be one of ${choices.join(', ')}`,
    placeholder: choices.join('|'),
    fits: (value): value is Choice => choices.some((choice) => choice === value),
    read: asWritten,
  }
}

/** One or several of the choices; a person separates them by commas. */
export function someOf<const Choice extends string>(choices: readonly Choice[]): OptionKind<readonly Choice[]> {
  return {
    remedy: `must be one or several of ${choices.join(', ')}, separated by commas`,
    placeholder: choices.join(','),
    fits: (value): value is readonly Choice[] =>
      Array.isArray(value) && value.length > 0 && value.every((each) => choices.some((choice) => choice === each)),
    read: (written) => written.split(','),
  }
}

/** A switch. The environment takes `true`, `1`, `false`, `0` or an empty text. */
export const toggle: OptionKind<boolean> = {
  remedy: 'must be true or false',
  fits: (value): value is boolean => typeof value === 'boolean',
  read: (written) => SWITCHED.get(written),
}

/** The row of a switch that is off unless it is given. */
export function optIn(help: string): Option<boolean> & { readonly default: boolean } {
  return { kind: toggle, help, default: false }
}

const SWITCHED = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
  ['', false],
])

/** A text that fits. `remedy` describes right texts. */
export function textThat(fits: (text: string) => boolean, remedy: string, placeholder: string): OptionKind<string> {
  const isText = (value: unknown): value is string => typeof value === 'string' && fits(value)
  return { remedy, placeholder, fits: isText, read: asWritten }
}

/** A list of values that fit; a person repeats the option. */
function listOf(fits: (value: unknown) => boolean, remedy: string, placeholder: string): OptionKind<readonly string[]> {
  const isList = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(fits)
  return { remedy, placeholder, repeatable: true, fits: isList, read: asWritten }
}

export const text = textThat((written) => written !== '', 'must be a text that is not empty', 'TEXT')
export const texts = listOf(text.fits, 'must be a list of texts that are not empty', 'TEXT')
/** A host without what stands beside it in a URL: `[::1]` and `localhost:4010` are no names that can be looked up. */
export const hostName = textThat(
  (written) => /^(?:[^[\]/:\s]+|[\da-f]*:[\da-f]*:[\da-f:.]*(?:%\w+)?)$/i.test(written),
  'must be a name or an address alone, such as 127.0.0.1 or ::1; the port is --port PORT',
  'HOST',
)
export const fileName: OptionKind<string> = { ...text, placeholder: 'FILE' }
export const fileNames: OptionKind<readonly string[]> = { ...texts, placeholder: 'FILE' }

/** Origins of pages in a browser, as the header field Origin spells them. */
export const origins: OptionKind<readonly string[]> = {
  ...listOf(isOrigin, 'must be an origin such as http://localhost:5173, or * for any', '[ORIGIN]'),
  bare: ANY_ORIGIN,
}

/** A longer text is not an origin: a hostname has at most 253 characters. */
const LONGEST_ORIGIN = 300

function isOrigin(value: unknown): boolean {
  if (value === ANY_ORIGIN) return true
  if (typeof value !== 'string' || value.length > LONGEST_ORIGIN || !URL.canParse(value)) return false
  const { origin, protocol, host } = new URL(value)
  // The URL parser gives no `origin` for browser extensions and packaged apps.
  return value === (origin === 'null' ? `${protocol}//${host}` : origin) && host !== ''
}

/** A text that can be sent in a header field. */
export const secret: OptionKind<string> = {
  ...textThat(
    (written) => /^[!-~]{1,200}$/.test(written),
    'must be 1 to 200 visible ASCII characters without spaces',
    'TEXT',
  ),
  shows: () => undefined,
}

/** An RFC 3339 instant, kept as it was written. */
export const instant = textThat(isInstant, 'must be an instant such as 2026-01-15T09:00:00Z', 'INSTANT')

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }
const DURATION = /^(\d{1,6})([smhd]?)$/

/** A duration, kept as it was written; `readDuration` reads it. A bare number means seconds. */
export const timeLimit = textThat(
  (written) => readDuration(written) > 0,
  'must be a duration such as 90s, 30m, 1h or 2d, and longer than 0',
  'DURATION',
)

/** The milliseconds of a duration; not a number for any other text. */
export function readDuration(written: string): number {
  const [, amount, unit = ''] = DURATION.exec(written) ?? []
  return Number(amount) * (SECONDS[unit] ?? 1) * 1000
}

function asWritten(written: string): string {
  return written
}

/** The end of a refusal of this value. */
export function remedyFor({ remedy }: OptionKind<unknown>, wrong: unknown): string {
  return typeof remedy === 'string' ? remedy : remedy(wrong)
}

/** The value of the `written` texts. Each text is one occurrence of the option. */
export function readTexts<Value>(
  { kind }: Option<Value>,
  written: readonly string[],
): { value: Value } | { wrong: string } {
  const values = written.map((each) => kind.read?.(each))
  const wrong = written.find((_, index) => !kind.fits(kind.repeatable ? [values[index]] : values[index]))
  return wrong === undefined ? { value: (kind.repeatable ? values : values.at(-1)) as Value } : { wrong }
}

export function isSwitch({ kind }: Option<unknown>): boolean {
  return kind === toggle
}

/** The name on the command line, without the dashes: `apiKey` → `api-key`; of a switch that is on, `prefer` → `no-prefer`. */
export function flagOf(name: string, option: Option<unknown>): string {
  return option.flag ?? (isSwitch(option) && option.default === true ? `no-${kebab(name)}` : kebab(name))
}

/** All names on the command line, without the dashes. A switch has two: one of them is `no-` and the other. */
export function flagsOf(name: string, option: Option<unknown>): string[] {
  const flag = flagOf(name, option)
  if (!isSwitch(option)) return [flag]
  return [flag, turnsOff(flag) ? flag.slice('no-'.length) : `no-${flag}`]
}

/** Whether the flag of a switch turns it off. */
export function turnsOff(flag: string): boolean {
  return flag.startsWith('no-')
}

/** The beginning of all option names in the environment. */
export const PREFIX = 'DMARC_UNDERSTUDY_'

/** The name of a flag in the environment: `api-key` → `DMARC_UNDERSTUDY_API_KEY`. */
export function variableFor(flag: string): string {
  return PREFIX + flag.toUpperCase().replaceAll('-', '_')
}

/** The spelling on the command line: `--api-key KEY`. A switch has no placeholder. */
export function usageOf(name: string, option: Option<unknown>): string {
  const placeholder = placeholderOf(option)
  return `--${flagOf(name, option)}${placeholder === undefined ? '' : ` ${placeholder}`}`
}

export function placeholderOf({ kind, placeholder }: Option<unknown>): string | undefined {
  return placeholder ?? kind.placeholder
}

/** The effect on the command line, including the default. */
export function helpOf(option: Option<unknown>): string {
  const words = option.kind.repeatable ? `${option.help} Repeatable.` : option.help
  if (option.defaultText !== undefined) return `${words} Default: ${option.defaultText}.`
  const { default: usual } = option
  const isNothing = usual === undefined || isSwitch(option) || (Array.isArray(usual) && usual.length === 0)
  return isNothing ? words : `${words} Default: ${usual}.`
}
