import { SHORT } from '../journal/redaction/secrets.ts'
import { PREFIX, variableFor } from '../server/option.ts'

/** A secret that the user gave, and the variable of the environment that replaces it in a command line. */
export interface GivenSecret {
  readonly value: string
  readonly variable: string
}

/** The names of options, variables and header fields that hold a secret. */
const NAME = /(?:(?:api|access|secret|private|auth)[-_]?key|token|secret|password|passwd|pwd)$|(?:^|_)key$/i
const FLAG = /^--?([A-Za-z][\w-]*)(?:=(.+))?$/s
/** `NAME=VALUE` and `Name: VALUE` as a whole word. */
const PAIR = /^([A-Za-z_][\w-]*)(?:=|:\s*)(?:(?:bearer|basic)\s+)?(\S+)$/i
/** The same in the text of a shell, where only variables of the environment are certain to be no code. */
const ASSIGNED = /(?<![\w-])([A-Z][A-Z0-9_]*)=(?:"([^"$`]+)"|'([^']+)'|([^\s"'`$&;|()]+))/g
const WITH_SCHEME = /\b(?:bearer|basic)\s+([\w.~+/=-]+)/gi
/** User and password of a URL. The last `@` before the path ends them. */
const USER = /[a-z][a-z0-9+.-]{0,30}:\/\/([^\s/?#'"]+)@/gi
/** A value with a placeholder, such as `{apiKey}`, holds a secret only if the rest is longer than an ordinary word. */
const PLACEHOLDER = /\{\w+\}/

/** The secrets in the arguments of the program, those for a command of the user included, and in its own variables. */
export function findGiven(args: readonly string[], environment: NodeJS.ProcessEnv): GivenSecret[] {
  const end = args.indexOf('--')
  const own = end < 0 ? args : args.slice(0, end)
  const variables = Object.entries(environment).flatMap(([name, value = '']) => {
    if (!name.startsWith(PREFIX)) return []
    if (NAME.test(name)) return [{ value, variable: name }]
    return [value, ...value.split(',')].flatMap(findInText)
  })
  return [
    ...findInWords(own, variableFor),
    ...variables,
    ...findInWords(end < 0 ? [] : args.slice(end + 1), nameVariable),
  ].flatMap(withoutPlaceholders)
}

/** A variable of the shell only names a secret. */
function withoutPlaceholders({ value, variable }: GivenSecret): GivenSecret[] {
  if (value.startsWith('$')) return []
  const parts = value.split(PLACEHOLDER)
  const shortest = parts.length > 1 ? SHORT : 0
  return parts.filter(({ length }) => length > shortest).map((part) => ({ value: part, variable }))
}

/** The option of this program that a word gives a secret to; `value` is `undefined` if the next word has it. */
export function readSecretFlag(word: string): { flag: string; value: string | undefined } | undefined {
  const [, flag = '', value] = FLAG.exec(word) ?? []
  return NAME.test(flag) ? { flag, value } : undefined
}

function findInWords(words: readonly string[], variableOf: (flag: string) => string): GivenSecret[] {
  return words.flatMap((word, index) => {
    const given = readSecretFlag(word)
    if (given === undefined) return findInText(word)
    const next = words[index + 1] ?? ''
    return [{ value: given.value ?? (next.startsWith('--') ? '' : next), variable: variableOf(given.flag) }]
  })
}

function findInText(text: string): GivenSecret[] {
  const [, name = '', value = ''] = PAIR.exec(text) ?? []
  if (NAME.test(name)) return [{ value, variable: nameVariable(name) }]
  return [
    ...[...text.matchAll(ASSIGNED)].flatMap(([, variable = '', ...values]) =>
      NAME.test(variable) ? [{ value: values.find((each) => each !== undefined) ?? '', variable }] : [],
    ),
    ...[...text.matchAll(WITH_SCHEME)].map(([, value = '']) => ({ value, variable: 'API_KEY' })),
    ...[...text.matchAll(USER)].flatMap(([, user = '']) => passwordsIn(user)),
  ]
}

/** The password as it is written, and as it is meant. A user without a password may be a token. */
function passwordsIn(user: string): GivenSecret[] {
  const written = user.slice(user.indexOf(':') + 1)
  return [written, decode(written)].map((value) => ({ value, variable: 'PASSWORD' }))
}

function decode(written: string): string {
  try {
    return decodeURIComponent(written)
  } catch {
    return written
  }
}

/** `--service-token` and `X-Api-Key` as variables: `SERVICE_TOKEN`, `X_API_KEY`. */
function nameVariable(name: string): string {
  return name.toUpperCase().replaceAll('-', '_')
}
