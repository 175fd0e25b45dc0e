import type { Problem } from './errors.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g
const PLAIN_ASCII = /^[\u0020-\u007e]*$/
/** Unpaired surrogates, which no Unicode encoding can write. */
const LONE_SURROGATE = /\p{Surrogate}/gu
/** Invisible characters, such as a zero-width space. Joiners are excluded, because they change how a word looks. */
export const INVISIBLE = /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/gu

/**
 * The reasons why a group cannot have a name, beyond the schema: U+0000, which most databases cannot store, and half of
 * a surrogate pair, which JSON can escape but no encoding can write.
 */
export function nameProblems(name: string): Pick<Problem, 'reason' | 'value' | 'about'>[] {
  const problems: Pick<Problem, 'reason' | 'value' | 'about'>[] = []
  // Most names need none of these checks, and they take as long as the rest.
  if (PLAIN_ASCII.test(name)) return problems
  if (name.includes('\u0000')) problems.push(withCharacter('control', name, '\u0000'))
  const [surrogate] = name.match(LONE_SURROGATE) ?? []
  if (surrogate !== undefined) problems.push(withCharacter('surrogate', name, surrogate))
  return problems
}

function withCharacter(reason: string, name: string, character: string): Pick<Problem, 'reason' | 'value' | 'about'> {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return { reason, value: name, about: { character: `U+${code}` } }
}

/** The longest prefix of a name that has at most `limit` characters (code points). */
export function cutName(name: string, limit: number): string {
  return [...name].slice(0, Math.max(0, limit)).join('')
}

/** A name without the characters that a person does not mean: control characters, halves of pairs, invisible ones. */
export function cleanName(name: string): string {
  return name.replaceAll(CONTROL, '').replaceAll(LONE_SURROGATE, '').replaceAll(INVISIBLE, '').trim()
}
