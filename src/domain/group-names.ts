import type { Problem } from './errors.ts'
import type { Settings } from './settings.ts'

export type NameSettings = Pick<
  Settings,
  'spaceAroundNames' | 'controlCharacters' | 'loneSurrogates' | 'invisibleInNames' | 'nameLengthUnit'
>

/** With these settings, every text is a name, and it is stored as sent. */
export const ANY_NAME: NameSettings = {
  spaceAroundNames: 'kept',
  controlCharacters: 'kept',
  loneSurrogates: 'kept',
  invisibleInNames: 'kept',
  nameLengthUnit: 'code-points',
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g
const PLAIN_ASCII = /^[\u0020-\u007e]*$/
/** Plain ASCII without space around it. Under every setting, it is stored as sent. */
const PLAIN_NAME = /^[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?$/
/** Unpaired surrogates, which no Unicode encoding can write. */
const LONE_SURROGATE = /\p{Surrogate}/gu
/** Invisible characters, such as a zero-width space. Joiners are excluded, because they change how a word looks. */
export const INVISIBLE = /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/gu

/** The stored name of a group for the sent name. The settings are read only for a name that is not plain. */
export function storedName(sent: string, settings: NameSettings): string {
  if (PLAIN_NAME.test(sent)) return sent
  let name = sent
  if (settings.loneSurrogates === 'replaced') name = name.replaceAll(LONE_SURROGATE, '\ufffd')
  if (settings.invisibleInNames === 'dropped') name = name.replaceAll(INVISIBLE, '')
  if (settings.spaceAroundNames === 'trimmed') name = name.trim()
  return name
}

/** The reasons why a group cannot have a name, beyond the schema. `limit` is the maximum length. */
export function nameProblems(
  name: string,
  settings: NameSettings,
  limit: number,
): Pick<Problem, 'reason' | 'value' | 'about'>[] {
  const problems: Pick<Problem, 'reason' | 'value' | 'about'>[] = []
  if (name !== name.trim() && settings.spaceAroundNames === 'refused') problems.push({ reason: 'space', value: name })
  // Most names need none of the next checks, and each check takes as long as the rest.
  if (PLAIN_ASCII.test(name)) return problems
  const controls = settings.controlCharacters === 'kept' ? [] : (name.match(CONTROL) ?? [])
  const control = settings.controlCharacters === 'refused' ? controls[0] : controls.find((each) => each === '\u0000')
  if (control !== undefined) problems.push(withCharacter('control', name, control))
  const [surrogate] = settings.loneSurrogates === 'refused' ? (name.match(LONE_SURROGATE) ?? []) : []
  if (surrogate !== undefined) problems.push(withCharacter('surrogate', name, surrogate))
  const [invisible] = settings.invisibleInNames === 'refused' ? (name.match(INVISIBLE) ?? []) : []
  if (invisible !== undefined) problems.push(withCharacter('invisible', name, invisible))
  if (settings.nameLengthUnit !== 'code-points') {
    const count = measureName(name, settings.nameLengthUnit)
    // The schema counts code points. If there are too many code points, the schema already reports it.
    if (count > limit && measureName(name, 'code-points') <= limit) {
      problems.push({ reason: 'maxLength', value: name, about: { limit, count } })
    }
  }
  return problems
}

const SETTINGS_BY_REASON: Readonly<Record<string, keyof NameSettings>> = {
  space: 'spaceAroundNames',
  control: 'controlCharacters',
  surrogate: 'loneSurrogates',
  invisible: 'invisibleInNames',
  maxLength: 'nameLengthUnit',
}

/** The setting that forbids this name for a group; `undefined` if the name is permitted. */
export function settingAgainstName(
  name: string,
  settings: NameSettings,
  limit: number,
): keyof NameSettings | undefined {
  const [problem] = nameProblems(name, settings, limit)
  if (problem !== undefined) return SETTINGS_BY_REASON[problem.reason ?? '']
  const { loneSurrogates, invisibleInNames, spaceAroundNames } = settings
  const changing = { loneSurrogates, invisibleInNames, spaceAroundNames }
  if (storedName(name, settings) === name) return undefined
  return (Object.keys(changing) as (keyof typeof changing)[]).find((each) => {
    return storedName(name, { ...ANY_NAME, [each]: settings[each] }) !== name
  })
}

function withCharacter(reason: string, name: string, character: string): Pick<Problem, 'reason' | 'value' | 'about'> {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return { reason, value: name, about: { character: `U+${code}` } }
}

/** The length of a name. */
export function measureName(name: string, unit: Settings['nameLengthUnit']): number {
  if (unit === 'utf-16') return name.length
  let length = 0
  for (const character of name) length += unit === 'utf-8' ? bytesOf(character.codePointAt(0) ?? 0) : 1
  return length
}

function bytesOf(codePoint: number): number {
  return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4
}

/** The longest prefix of a name that is not longer than `limit`. */
export function cutName(name: string, limit: number, unit: Settings['nameLengthUnit']): string {
  let cut = ''
  let length = 0
  for (const character of name) {
    length += measureName(character, unit)
    if (length > limit) break
    cut += character
  }
  return cut
}

/** A name without all characters that some settings refuse. It may be empty. */
export function cleanName(name: string): string {
  return name.replaceAll(CONTROL, '').replaceAll(LONE_SURROGATE, '').replaceAll(INVISIBLE, '').trim()
}
