import type { ResponseContract } from '../contract/api.ts'
import { isObject, type Json, mapValues, pointTo, readJson } from '../ground/json.ts'
import { plural } from '../ground/show.ts'
import {
  type Candidates,
  type GenuineBody,
  kindOfPlace,
  type Place,
  type PossibleChange,
  pick,
  placesIn,
  pointerOf,
  shuffle,
  writeWith,
} from './body-places.ts'
import type { Draw } from './injection.ts'
import { respellings } from './respelling.ts'

export interface CorruptedBody {
  body: Buffer
  /** A description of the change, one sentence for the journal. */
  change: string
}

/** The changes that may keep the promise of a kind, in random order. */
const KINDS = {
  'malformed-json': malformations,
  'missing-field': omissions,
  'wrong-type': wrongTypes,
  'extra-field': additions,
  'unknown-enum': unknownEnums,
  'bad-envelope': badEnvelopes,
  compatible: compatibleChanges,
} satisfies Readonly<Record<string, Candidates>>

/** The values of the field `corrupt` of a rule. */
export type Corruption = keyof typeof KINDS

/**
 * Changes the body of a genuine response in a way that the kind promises: it is no JSON, or violates the contract, or is
 * another body that the contract permits, which is verified. `undefined` if the body has nothing that can be changed so.
 */
export function corruptBody(
  kind: Corruption,
  genuine: Buffer,
  contract: ResponseContract,
  draw: Draw,
): CorruptedBody | undefined {
  const value: unknown = JSON.parse(genuine.toString())
  const body = { text: contract.write(value), value, contract }
  function isAsPromised(text: string): boolean {
    if (kind === 'malformed-json') return readJson(text) === undefined
    const isValid = contract.check(JSON.parse(text)).length === 0
    return kind === 'compatible' ? isValid && text !== body.text : !isValid
  }
  for (const { change, write } of KINDS[kind](body, draw)) {
    const text = write()
    if (isAsPromised(text)) return { body: Buffer.from(text), change }
  }
  return undefined
}

const ERROR_PAGE =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n'

/** Text that is not JSON, as faulty servers are known to send it. */
function malformations({ text }: GenuineBody, draw: Draw): PossibleChange[] {
  const cut = 1 + Math.floor(draw() * (text.length - 1))
  // Half of a surrogate pair cannot be written in UTF-8.
  const kept = /[\ud800-\udbff]/.test(text.charAt(cut - 1)) ? cut - 1 : cut
  return shuffle(
    [
      {
        change: `The answer was cut off after ${kept} of ${text.length} characters.`,
        write: () => text.slice(0, kept),
      },
      { change: 'The answer got a trailing comma.', write: () => `${text.slice(0, -1)},${text.slice(-1)}` },
      {
        change: 'The strings of the answer were put in single quotes.',
        write: () => text.replaceAll(/"((?:[^"\\]|\\.)*)"/g, "'$1'"),
      },
      { change: 'The answer became an error page in HTML.', write: () => ERROR_PAGE },
      { change: 'The answer was sent twice.', write: () => `${text}\n${text}` },
    ],
    draw,
  )
}

/** How often, as a share, changes that only this contract permits are tried before those for every JSON text. */
const FREEDOM_FIRST = 3 / 4

/** Another body that the contract permits: it has the same meaning, or the contract permits the difference. */
function* compatibleChanges(body: GenuineBody, draw: Draw): Generator<PossibleChange> {
  const freedoms = shuffle([freeValues, omissions, additions], draw)
  const isFree = draw() < FREEDOM_FIRST
  for (const way of isFree ? [...freedoms, respellings] : [respellings, ...freedoms]) yield* way(body, draw)
}

/** New values for fields whose values the contract does not list. */
function freeValues(body: GenuineBody, draw: Draw): PossibleChange[] {
  return placesIn(body, draw, isNamed).map((place) => {
    const value = pick(VALUES.get(place.steps.at(-1)) ?? [], draw)
    return { change: `${wordNewValue(place, value)}.`, write: () => writeWith(body, place, value) }
  })
}

function wordNewValue(place: Place, value: unknown): string {
  return `${pointerOf(place)} became the new value ${JSON.stringify(value)} instead of ${JSON.stringify(place.value)}`
}

/** Leaves out a property. The fields of the envelope belong to `bad-envelope`. */
function omissions(body: GenuineBody, draw: Draw): PossibleChange[] {
  const isProperty = ({ steps }: Place) => steps.length > 1 && typeof steps.at(-1) === 'string'
  return placesIn(body, draw, isProperty).map((place) => {
    return { change: `${pointerOf(place)} was left out.`, write: () => writeWith(body, place, undefined) }
  })
}

/** Properties that a later version could have. */
const PROPERTIES = {
  created_at: '2026-01-15T09:00:00Z',
  status: 'active',
  tags: [],
  owner: null,
  version: 2,
  links: { self: '/' },
}

/** Adds a property to an object that does not have it yet. */
function additions(body: GenuineBody, draw: Draw): PossibleChange[] {
  return placesIn(body, draw, ({ value }) => isObject(value)).map((place) => {
    const [name, added] = pick(Object.entries(PROPERTIES), draw)
    const change = `${pointTo(pointerOf(place), name)} was added.`
    return { change, write: () => writeWith(body, place, { ...(place.value as Json), [name]: added }) }
  })
}

function wrongTypes(body: GenuineBody, draw: Draw): PossibleChange[] {
  // `success` and the whole body belong to `bad-envelope`.
  const isOwn = (place: Place) => !['', '/success'].includes(pointerOf(place))
  return placesIn(body, draw, isOwn).flatMap((place) =>
    shuffle(otherTypes(place.value), draw).map((other) => {
      const change = `${pointerOf(place)} became ${typeOf(other)} instead of ${typeOf(place.value)}.`
      return { change, write: () => writeWith(body, place, other) }
    }),
  )
}

/** How other servers are known to write such a value. */
function otherTypes(value: unknown): readonly unknown[] {
  if (value === null) return ['', [], {}, 0]
  // The object is the form in which PHP writes an array whose indexes have a gap.
  if (Array.isArray(value)) return [{ ...value }, null, '']
  switch (typeof value) {
    case 'number':
      return [`${value}`, null, [value]]
    case 'boolean':
      return [`${value}`, null, Number(value)]
    case 'string':
      return [null, [value], { value }, value.length]
    default:
      return [[value], [], null, '']
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Values that a later version of the service could have, by field. They are invented, so no contract lists them. */
const POLICIES = ['monitor', 'report', 'discard']
const VALUES: ReadonlyMap<unknown, readonly string[]> = new Map([
  ...['p', 'sp', 'np'].map((field): [string, string[]] => [field, POLICIES]),
  ['testing', ['p', 'partial', 'unknown']],
  ['code', ['maintenance', 'account_suspended', 'try_again_later']],
])

/** All fields whose values are listed at once, because a client may read only some. The first value is drawn. */
function unknownEnums(body: GenuineBody, draw: Draw): PossibleChange[] {
  const { value, contract } = body
  const drawn = Math.floor(draw() * 1000)
  const changes: string[] = []
  const isListed = (place: Place) => contract.check(JSON.parse(writeWith(body, place, freshValue(place, 0)))).length > 0
  const known = placesIn(body, draw, isNamed).filter(isListed)
  const listed = new Set(known.map(kindOfPlace))
  function change(place: Place): unknown {
    const { value: present, steps } = place
    const inside = (inner: unknown, step: string | number) => change({ value: inner, steps: [...steps, step] })
    if (Array.isArray(present)) return present.map(inside)
    if (isObject(present)) return mapValues(present, inside)
    if (!listed.has(kindOfPlace(place))) return present
    const fresh = freshValue(place, drawn + changes.length)
    changes.push(wordNewValue(place, fresh))
    return fresh
  }
  const text = contract.write(change({ value, steps: [] }))
  const [first, ...others] = changes
  if (first === undefined) return []
  const rest = others.length === 0 ? '' : `, and ${plural(others.length, 'more field')} got new values, too`
  return [{ change: `${first}${rest}.`, write: () => text }]
}

/** Whether the field has a name for which there are new values. */
function isNamed({ steps }: Place): boolean {
  return VALUES.has(steps.at(-1))
}

function freshValue({ value, steps }: Place, number: number): string {
  const values = [...(VALUES.get(steps.at(-1)) ?? []), 'unknown', `${value}_v2`]
  return `${values[number % values.length]}`
}

/** The envelope that the contract promises is missing, or incomplete. */
function badEnvelopes({ value, contract }: GenuineBody, draw: Draw): PossibleChange[] {
  if (!isObject(value)) return []
  const failed = value['success'] === false
  const [own, other] = failed ? (['error', 'data'] as const) : (['data', 'error'] as const)
  const ways: readonly (readonly [change: string, changed: unknown])[] = [
    ['/success was left out.', { ...value, success: undefined }],
    [`/success became ${failed}.`, { ...value, success: failed }],
    ['/success became a string.', { ...value, success: `${!failed}` }],
    [`/${own} was left out.`, { ...value, [own]: undefined }],
    [`/${other} was added and is null.`, { ...value, [other]: null }],
    [`The answer became what /${own} held.`, value[own]],
    ['The answer was put in an array.', [value]],
    ['The answer became an empty object.', {}],
    ['The answer became null.', null],
  ]
  return shuffle(ways, draw).map(([change, changed]) => ({ change, write: () => contract.write(changed) }))
}
