import { isObject } from '../ground/json.ts'

/**
 * A JSON value as indented lines, for a reader. A text of one line stands there as it is, so that a command in it can be
 * copied; fields without a value are left out, because they say nothing that their absence does not.
 */
export function writeOutline(value: unknown): string {
  return typeof value === 'object' && value !== null ? linesOf(value, '').join('\n') : writeScalar(value)
}

function linesOf(value: object, indent: string): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const [first = '', ...rest] = isBranch(item) ? linesOf(item, `${indent}  `) : [`${indent}  ${leaf(item, indent)}`]
      return [`${indent}- ${first.slice(indent.length + 2)}`, ...rest]
    })
  }
  const given = Object.entries(value).filter(([, each]) => each !== null && each !== undefined)
  return given.flatMap(([key, each]) =>
    isBranch(each)
      ? [`${indent}${key}:`, ...linesOf(each, isObject(each) ? `${indent}  ` : indent)]
      : [`${indent}${key}: ${leaf(each, indent)}`],
  )
}

/** Whether it has lines of its own. */
function isBranch(value: unknown): value is object {
  if (Array.isArray(value)) return value.length > 0
  return isObject(value) && Object.values(value).some((each) => each !== null && each !== undefined)
}

/** A value after a key or a dash. The lines of a long text stand below it. */
function leaf(value: unknown, indent: string): string {
  const text = writeScalar(value)
  return text.includes('\n') ? `|\n${text.replaceAll(/^/gm, `${indent}  `)}` : text
}

/** Texts that could be taken for another value are in quotes. */
const AMBIGUOUS = /^(?:|true|false|null|-?\d+(?:\.\d+)?|[[{].*|\s.*|.*\s)$/

function writeScalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? ''
  return AMBIGUOUS.test(value) ? JSON.stringify(value) : value.trimEnd()
}
