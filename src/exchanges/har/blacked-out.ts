import { readJson } from '../../ground/json.ts'
import { memoize } from '../../ground/memo.ts'
import { splitAuthorization } from '../../ground/secrets.ts'

/**
 * Who passes a recording on often replaces what is secret in it. The replacement says that something was sent, and not
 * what: what it stands for is unknown. The tools that do so, and people, write it in these ways.
 */
const WORD =
  '(?:redact|saniti[sz]|scrubb|mask(?:ed|ing)|censor|obfuscat|anonymi[sz]|remov|hidden|filtered|omitted|stripped|withheld|blacked|replaced|deleted|placeholder)'
/** One character that is repeated, three dots, or a UUID of zeros. */
const MASK = String.raw`([*•●█■▒?#_.–—-]|[xX])\1{2,}|…+|0{8}-(?:0{4}-){3}0{12}`
const BRACKETS = String.raw`[[({<*_%$#]{1,3}[^\])}>"]{0,80}${WORD}[^\])}>"]{0,80}[\])}>*_%$#]{1,3}`

const REPLACED = new RegExp(
  `^\\s*["']?(?:${MASK}|${BRACKETS}|(?:[a-z]+[ _-]){0,3}${WORD}\\w*(?:[ _-][a-z]+){0,3})["']?\\s*$`,
  'iu',
)

const LONGEST = 100

/** Whether a text that may be a secret is a replacement. */
export function isReplacedSecret(value: string): boolean {
  return value.length <= LONGEST && REPLACED.test(value)
}

/**
 * Whether the value of any other field or parameter is a replacement. The test takes long, and messages repeat most of
 * these values, so they are remembered.
 */
export const isReplaced = memoize(isReplacedSecret, { limit: 1_000, longest: LONGEST })

/** Names and forms of what is secret, which stand in its place: `<token>`, `{{key}}`, `$KEY`, `YOUR_API_KEY`. */
const NAMED =
  /^(?:[[<{(].*[\])}>]|[$%][\w{}$%().-]+|your[ _-].*|(?:the[ _-])?(?:api[ _-]?)?(?:key|token|secret|jwt|credentials?)|[^\p{L}\p{N}]*)$/iu
/** The beginning or the end of a secret that was shortened. */
const SHORTENED = /\*{3}|\.{3}|…|•{2}|[xX]{6}/
/** A hash without the scheme, which stands for the whole value. */
const HASHED = /^(?:[\w-]{1,12}[:$=])?(?:[\da-f]{32,}|[\w+/-]{42,88}={0,2})$/i

/**
 * Whether the value of Authorization says no more than that something was sent. A scheme alone, and nothing at all, are
 * what remains if a secret is cut out.
 */
export function hidesKey(value: string): boolean {
  const whole = value.trim()
  const { scheme, secret: rest } = splitAuthorization(whole)
  const hasScheme = rest !== '' && /^[A-Za-z][\w-]*$/.test(scheme)
  const secret = hasScheme ? rest : whole
  if (!hasScheme && (/^(?:bearer|basic|digest|token)?$/i.test(secret) || HASHED.test(secret))) return true
  return [whole, secret].some((text) => isReplacedSecret(text) || NAMED.test(text)) || SHORTENED.test(secret)
}

/** A cheap test: few bodies need the expensive ones. */
const SUSPICIOUS = new RegExp(String.raw`${WORD}|\*{3}|[•●█]{2}|x{3}`, 'i')
/** A JSON text. A single word can also be a name, and the sentence of a message may have any word in it. */
const TEXT = new RegExp(
  String.raw`"(?:${BRACKETS}|\*{3,}|[•●█]{2,}|(?:[a-z]+[ _-])?(?:redacted|saniti[sz]ed|scrubbed|masked|censored|anonymi[sz]ed)(?:[ _-][a-z]+)?)"|"id"\s*:\s*"([x*#])\1{2,}"`,
  'i',
)

const BRACKETED = new RegExp(BRACKETS, 'i')

/** Whether something in the text of a body was replaced, or all of it. */
export function isBlackedOut(text: string): boolean {
  if (!SUSPICIOUS.test(text)) return false
  return readJson(text) !== undefined ? TEXT.test(text) : isReplaced(text) || BRACKETED.test(text)
}
