/** The languages of the written values. */
export type Language = 'javascript' | 'python'

/** The maximum number of characters in a line. */
const WIDTH = 110
/** Invisible characters, and characters that change the direction of the text beside them. */
const INVISIBLE = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u2069\ufeff\ufff9-\ufffb]/g

/** Code in one language that can be part of a value. */
export class Code {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * A value as a literal of the language. It can contain JSON values and `Code`. Long objects and lists have a line for
 * each entry. `indent` is the indentation of the first line, and `used` is the number of characters before the value.
 */
export function writeValue(value: unknown, language: Language, indent = 0, used = indent): string {
  const line = inOneLine(value, language)
  if (used + line.length <= WIDTH || typeof value !== 'object' || value === null || value instanceof Code) return line
  const inner = indent + (language === 'python' ? 4 : 2)
  const space = ' '.repeat(inner)
  const isList = Array.isArray(value)
  const entries = isList
    ? value.map((item) => `${space}${writeValue(item, language, inner)},`)
    : fieldsOf(value).map(([name, item]) => {
        const before = `${space}${writeName(name, language)}: `
        return `${before}${writeValue(item, language, inner, before.length)},`
      })
  if (entries.length === 0) return line
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  return [open, ...entries, ' '.repeat(indent) + close].join('\n')
}

/** A text as a literal. All invisible characters are escaped. */
export function writeText(text: string, language: Language): string {
  // Both languages read the escapes of JSON in the same way. JSON also escapes an unpaired surrogate.
  const json = JSON.stringify(text).replaceAll(INVISIBLE, escapeCharacter)
  if (language === 'python') return json
  const inner = json.slice(1, -1).replaceAll(/\\.|'/gs, (part) => {
    if (part === '\\"') return '"'
    return part === "'" ? "\\'" : part
  })
  return text.includes("'") && !text.includes('"') ? json : `'${inner}'`
}

/** A text for a comment: in one line, and without characters that could end the comment. */
export function writeRemark(text: string): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll(INVISIBLE, escapeCharacter)
    .replaceAll('*/', '* /')
}

function inOneLine(value: unknown, language: Language): string {
  if (value instanceof Code) return value.text
  if (typeof value === 'string') return writeText(value, language)
  if (Array.isArray(value)) return `[${value.map((item) => inOneLine(item, language)).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = fieldsOf(value).map(([name, item]) => `${writeName(name, language)}: ${inOneLine(item, language)}`)
    if (fields.length === 0) return '{}'
    return language === 'python' ? `{${fields.join(', ')}}` : `{ ${fields.join(', ')} }`
  }
  if (language === 'python')
    return value === null ? 'None' : value === true ? 'True' : value === false ? 'False' : `${value}`
  return String(value)
}

function fieldsOf(value: object): [name: string, item: unknown][] {
  return Object.entries(value).filter(([, item]) => item !== undefined)
}

function writeName(name: string, language: Language): string {
  if (language === 'python') return writeText(name, language)
  // Without brackets, this name would set the prototype.
  if (name === '__proto__') return "['__proto__']"
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : writeText(name, language)
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
