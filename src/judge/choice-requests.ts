import { canonicalHostname } from '../contract/hostname.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { type Json, valueAt } from '../ground/json.ts'
import { isPlainHostname } from './names.ts'
import type { ReadChoice } from './open-choice.ts'
import type { AskedRequest } from './request.ts'

/** In bytes. No alternative of openapi.yaml refuses bodies up to this size. */
export const SMALL_BODY = 16_384

/** The code of a request whose only problem is that it adds too many domains. */
export const readTooMany: ReadChoice = ({ reading, asked }, choice) => {
  const { outcome } = reading
  if (outcome.kind !== 'refusal' || asked.isOdd || asked.size > SMALL_BODY || !hasTooMany(asked, reading))
    return undefined
  const names = asked.list('domains')
  if (asked.fields.size > 1 || !names.every(isPlainHostname) || asked.allNames.size < names.length) return undefined
  return choice.those((holder) => valueAt(holder, '/x-error/maxItems') === outcome.code)
}

/** Whether more domains are to be added than the document permits. */
export function hasTooMany(asked: AskedRequest, { operation }: ReadExchange): boolean {
  const limit = valueAt(operation?.bodySchema, '/properties/domains/maxItems')
  return asked.call === 'addDomains' && typeof limit === 'number' && asked.list('domains').length > limit
}

/** Whether a change is accepted that has nothing but empty lists. */
export const readEmptyLists: ReadChoice = ({ reading: { outcome }, asked }, choice) => {
  if (asked.call !== 'updateDomainGroup' || asked.isOdd || asked.fields.size === 0) return undefined
  const fields = [...asked.fields].filter(([, value]) => Array.isArray(value) && value.length === 0)
  const isAccepted = outcome.kind === 'success'
  const isRefused = outcome.kind === 'refusal' && outcome.code === 'no_fields_to_update'
  if (fields.length < asked.fields.size || !(isAccepted || isRefused)) return undefined
  return choice.those((holder) => fields.some(([field]) => countsEmpty(holder, field)) === isAccepted)
}

/** Whether an empty list in this field counts as a field, by the schema of changes. */
function countsEmpty({ anyOf }: Json, field: string): boolean {
  if (!Array.isArray(anyOf)) return true
  return anyOf.some((each) => {
    const isAbout = valueAt(each, '/required/0') === field
    return isAbout && valueAt(each, `/properties/${field}/minItems`) === undefined
  })
}

/** Whether international names are accepted, and shown in another form than that in which they were sent. */
export const readInternational: ReadChoice = ({ reading: { shown, outcome }, asked, belief }, choice) => {
  const sent = asked.list('domains')
  if (asked.call !== 'addDomains' || asked.isOdd || sent.every(isPlain)) return undefined
  if (outcome.kind === 'refusal') {
    const isNew = [...asked.allNames].every((name) => belief.isMonitored(name) === false && belief.isCertain(name))
    const isValid = asked.allNames.size === sent.length && sent.every((name) => canonicalHostname(name) !== undefined)
    const isRefused = outcome.code === 'invalid_domain' && isNew && isValid && !sent.every(isAscii)
    return isRefused ? choice.of('refused') : undefined
  }
  const changed = (shown.added ?? []).filter((name) => !sent.includes(name))
  if (changed.some((name) => !isAscii(name))) return choice.of('u-label')
  const isALabel = changed.some((name) => name.includes('xn--'))
  const isAccepted = !sent.every(isAscii)
  return choice.those(({ value }) => !(isALabel && value === 'u-label') && !(isAccepted && value === 'refused'))
}

/** Whether a name says nothing about international names. */
export function isPlain(name: string): boolean {
  return isAscii(name) && !/xn--/i.test(name)
}

export function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
  return /^[\u0000-\u007f]*$/.test(text)
}
