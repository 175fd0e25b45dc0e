import { isObject } from '../../ground/json.ts'
import type { Draw } from '../injection.ts'
import { type CorruptionKind, type PossibleChange, violates } from './corruption-kind.ts'
import { documentSpan, insertEntry, removeEntry, replaceSpan, spanAt, textOf } from './json-text.ts'
import { type ParsedResponse, shuffle } from './parsed-response.ts'

/** The envelope that the contract promises is missing, or incomplete. */
export const badEnvelope: CorruptionKind = { candidates, verify: violates }

function* candidates({ text, root }: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  if (!isObject(root.value)) return
  const failed = root.value['success'] === false
  const [own, other] = failed ? ['error', 'data'] : ['data', 'error']
  const envelope = documentSpan(text)
  const success = spanAt(text, ['success'])
  const content = spanAt(text, [own])
  const otherValue = failed ? '{}' : '{"code":"unknown","message":"Unknown error."}'
  const ways: PossibleChange['make'][] = [
    () => ({ text: removeEntry(text, envelope, 'success'), change: '/success was left out.' }),
    () => ({ text: replaceSpan(text, success, `${failed}`), change: `/success became ${failed}.` }),
    () => ({ text: replaceSpan(text, success, `"${!failed}"`), change: '/success became a string.' }),
    () => ({ text: replaceSpan(text, success, failed ? '0' : '1'), change: '/success became a number.' }),
    () => ({ text: removeEntry(text, envelope, own), change: `/${own} was left out.` }),
    () => ({ text: insertEntry(text, envelope, 2, `"${other}":null`), change: `/${other} was added and is null.` }),
    () => ({ text: insertEntry(text, envelope, 2, `"${other}":${otherValue}`), change: `/${other} was added.` }),
    () => ({ text: textOf(text, content), change: `The answer became what /${own} held.` }),
    () => ({ text: `[${text}]`, change: 'The answer was put in an array.' }),
    () => ({ text: '{}', change: 'The answer became an empty object.' }),
    () => ({ text: '[]', change: 'The answer became an empty array.' }),
    () => ({ text: 'null', change: 'The answer became null.' }),
  ]
  for (const make of shuffle(ways, draw)) yield { about: make, make }
}
