import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { ContractError } from '../../src/contract/extensions.ts'
import { applyOverlay, asOverlay, type Overlay, readOverlays } from '../../src/contract/overlay.ts'
import type { Json } from '../../src/ground/json.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { ONE_SENTENCE } from '../support/own-document.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The path of a file with this text. */
function fileOf(text: string): string {
  const path = join(temporaryFolder(), 'change.yaml')
  writeFileSync(path, text)
  return path
}

function overlay(...actions: Json[]): Overlay {
  return { name: 'change.yaml', actions: actions as unknown as Overlay['actions'] }
}

const SHELF = { place: { floor: 1, room: 'east' }, open: true }
const EMMA = { name: 'Emma', pages: 480, tags: ['novel'], lent: { days: 14 } }
const FAUST = { name: 'Faust', pages: 136, tags: ['play'] }
const WALDEN = { name: 'Walden', pages: 320, tags: [] }

/** A small document to change, frozen, so that changing it in place would throw. */
function library(): Json {
  return freeze(
    structuredClone({ title: 'Library', tags: ['old', 'small'], shelf: SHELF, books: [EMMA, FAUST, WALDEN] }),
  )
}

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze)
  return value
}

const apply = (...actions: Json[]) => applyOverlay(library(), overlay(...actions))

async function refusalOf(promise: Promise<unknown>): Promise<ContractError> {
  const error = await promise.then(
    () => 'Nothing was refused.',
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ContractError)
  return error as ContractError
}

describe('an update', () => {
  const TAGS = ['old', 'small']
  const UPPER = { place: { floor: 2, room: 'east' }, open: true }

  it.each<[what: string, target: string, update: unknown, changes: Json]>([
    ['replaces a single value', '$', { title: 'Archive' }, { title: 'Archive' }],
    ['adds a field', '$.shelf', { wood: 'oak' }, { shelf: { ...SHELF, wood: 'oak' } }],
    ['merges into objects within objects', '$', { shelf: { place: { floor: 2 } } }, { shelf: UPPER }],
    ['appends an array to an array', '$', { tags: ['new'] }, { tags: [...TAGS, 'new'] }],
    ['puts an array in the place of an object', '$', { shelf: [] }, { shelf: [] }],
    ['sets null, which removes nothing', '$', { shelf: null }, { shelf: null }],
    ['of an array appends one entry', '$.tags', 'new', { tags: [...TAGS, 'new'] }],
    ['of an array appends an array as one entry', '$.tags', ['a', 'b'], { tags: [...TAGS, ['a', 'b']] }],
  ])('%s', async (_, target, update, changes) => {
    expect(await apply({ target, update })).toEqual({ ...library(), ...changes })
  })

  it('changes everything that the target selects', async () => {
    const { books } = await apply({ target: '$.books[*]', update: { lent: { to: 'Ann' } } })
    expect(books).toMatchObject([{ lent: { days: 14, to: 'Ann' } }, { lent: { to: 'Ann' } }, { lent: { to: 'Ann' } }])
  })

  it('changes parent and child when the target selects both', async () => {
    const { shelf } = await apply({ target: '$..[?@.place || @.floor]', update: { seen: true } })
    expect(shelf).toEqual({ place: { floor: 1, room: 'east', seen: true }, open: true, seen: true })
  })

  it.each([
    ['appended to an array', { target: '$.books[*].tags', update: { label: {} } }, '$.books[0].tags[1].label'],
    ['concatenated', { target: '$.books[*]', update: { tags: [{ label: {} }] } }, '$.books[0].tags[1].label'],
    ['merged', { target: '$.books[*]', update: { label: {} } }, '$.books[0].label'],
  ])('puts copies in several places when it is %s, so that one can be changed alone', async (_, action, target) => {
    const change = overlay(action, { target, update: { colour: 'red' } })
    const before = structuredClone(change)
    const changed = await applyOverlay(library(), change)
    expect(JSON.stringify(changed['books']).match(/"colour"/g)).toHaveLength(1)
    expect(change).toEqual(before)
  })
})

describe('a removal', () => {
  it.each<[what: string, target: string, becomes: Json]>([
    ['of a field', '$.shelf.place', { shelf: { open: true } }],
    ['of an entry of an array', '$.tags[0]', { tags: ['small'] }],
    ['of entries named from the last to the first', '$.books[2,0]', { books: [FAUST] }],
    ['of a backward slice', '$.books[::-2]', { books: [FAUST] }],
    ['of an entry that is named twice', '$.tags[0,0]', { tags: ['small'] }],
    ['of parents and children at once', '$.shelf..*', { shelf: {} }],
  ])('%s', async (_, target, becomes) => {
    expect(await apply({ target, remove: true })).toEqual({ ...library(), ...becomes })
  })

  it('takes precedence over an update in the same action', async () => {
    expect(await apply({ target: '$.title', remove: true, update: { a: 1 } })).not.toHaveProperty('title')
  })
})

describe('actions', () => {
  it('are applied in order, each to what the ones before it left', async () => {
    const { tags } = await apply(
      { target: '$.tags[0]', remove: true },
      { target: '$.tags', update: 'new' },
      { target: '$.tags[0]', remove: true },
    )
    expect(tags).toEqual(['new'])
  })

  it.each(['__proto__', 'constructor', 'prototype'])('set a key %s as any other and pollute nothing', async (key) => {
    const update = JSON.parse(`{"${key}": {"polluted": true}, "shelf": {"${key}": {"polluted": true}}}`)
    const once = await apply({ target: '$', update })
    const twice = await applyOverlay(once, overlay({ target: '$', update }))
    expect(Object.getOwnPropertyDescriptor(twice, key)?.value).toEqual({ polluted: true })
    expect(Object.getOwnPropertyDescriptor(twice['shelf'], key)?.value).toEqual({ polluted: true })
    expect(Object.getPrototypeOf(twice)).toBe(Object.prototype)
    expect(({} as Json)['polluted']).toBeUndefined()
    expect((Object as unknown as Json)['polluted']).toBeUndefined()
  })
})

describe('an action is refused', () => {
  const nowhere = (target: string) => `/target: The target ${target} selects nothing in openapi.yaml.`
  const single = (target: string) =>
    `/target: The target ${target} selects a single value; select the object that holds it.`
  const NO_OBJECT = '/update: The update of an object must be an object.'

  it.each<[what: string, action: Json, reason: string]>([
    ['whose target selects nothing', { target: '$.nowhere', update: {} }, nowhere('$.nowhere')],
    ['that updates a single value', { target: '$.title', update: { en: 'X' } }, single('$.title')],
    ['that updates an object with text', { target: '$.shelf', update: 'oak' }, NO_OBJECT],
    ['that removes all', { target: '$', remove: true }, '/target: The document itself cannot be removed.'],
  ])('%s', async (_, action, reason) => {
    expect((await refusalOf(apply(action))).message).toBe(`change.yaml#/actions/0${reason}`)
  })

  it.each([
    ['books', 'does not start with $'],
    ['$.books[?nonsense(@)]', 'calls an unknown function'],
  ])('whose target %j %s', async (target) => {
    const error = await refusalOf(apply({ target, update: {} }))
    expect(error.message).toContain(`change.yaml#/actions/0/target: The target ${target} is no JSONPath (RFC 9535): `)
    expect(error.message).toMatch(ONE_SENTENCE)
  })
})

describe('an overlay is refused', () => {
  const action = { target: '$', update: { a: 1 } }

  it.each<[what: string, document: unknown, reason: string]>([
    ['that is a list', [action], ': is [{"target":"$","update":{"a":1}}] but must be of type object'],
    ['that names no version', { actions: [action] }, '#/overlay: is missing'],
    [
      'of a later version',
      { overlay: '1.1.0', actions: [action] },
      '#/overlay: is "1.1.0" but must be 1.0.0, the version that is supported',
    ],
    ['with no action', { overlay: '1.0.0', actions: [] }, '#/actions: is [] but must have at least 1 item'],
  ])('%s', async (_, document, reason) => {
    await expectRefusal(document, reason)
  })

  it.each<[what: string, action: unknown, reason: string]>([
    ['text', '$', ': is "$" but must be of type object'],
    ['that does nothing', { target: '$' }, ': is {"target":"$"} but must be an action with `update` or `remove: true`'],
    [
      'with a misspelt field',
      { ...action, updaet: {} },
      '/updaet: is not allowed here; allowed fields are target, description, update, remove',
    ],
  ])('with a second action %s', async (_, wrong, reason) => {
    await expectRefusal({ overlay: '1.0.0', actions: [action, wrong] }, `#/actions/1${reason}`)
  })

  async function expectRefusal(document: unknown, expected: string) {
    const [place = ''] = expected.split(': ')
    const reason = expected.slice(place.length + 2)
    const error = await refusalOf(asOverlay(document, 'change.yaml'))
    expect(error.message).toBe(`change.yaml${place}: This is no OpenAPI Overlay: the value ${reason}.`)
  }

  const tenfold = (value: string) => `[${Array(10).fill(value).join(', ')}]`
  const multiplied = Array.from({ length: 9 }, (_, index) => `b${index}: &a${index + 1} ${tenfold(`*a${index}`)}`)
  const ENDLESS = [`a: &a0 ${tenfold('x')}`, ...multiplied].join('\n')
  const CIRCLE = 'overlay: 1.0.0\nactions: [{ target: $, update: &a { contact: *a } }]'

  it.each<[what: string, text: string, reason: string]>([
    ['that is no YAML', 'overlay: [1.0.0\nactions: []', ':2:1: This is not valid YAML: deficient indentation.'],
    ['that is text', 'Hello', ': This is no OpenAPI Overlay: the value is "Hello" but must be of type object.'],
    ['whose alias is part of itself', CIRCLE, ': One of its aliases is part of what it stands for.'],
    ['whose aliases multiply without end', ENDLESS, ': Its aliases expand to more than 1000000 values.'],
  ])('as a file %s', async (_, text, reason) => {
    const path = fileOf(text)
    expect((await refusalOf(readOverlays([path]))).message).toBe(`${path}${reason}`)
  })

  it('as a file that is not there', async () => {
    const path = join(temporaryFolder(), 'nowhere.yaml')
    const error = await refusalOf(readOverlays([path]))
    expect(error.message).toBe(`${path}: The overlay cannot be read (ENOENT).`)
  })
})

it.each([
  ['YAML', 'overlay: 1.0.1\nactions: [{ target: $, update: { a: 1 } }]\n'],
  ['JSON', JSON.stringify({ overlay: '1.0.0', info: {}, actions: [{ target: '$', update: { a: 1 } }] })],
])('an overlay may be a file of %s', async (_, text) => {
  const path = fileOf(text)
  expect(await readOverlays([path])).toEqual([{ name: path, actions: [{ target: '$', update: { a: 1 } }] }])
})

describe('overlays of openapi.yaml', () => {
  it('given to a server as files, are applied one after the other', async () => {
    const change = (value: number) => ({ target: "$['x-settings']['body-limit']", update: { value } })
    const paths = [10, 20].map((value) => writeOverlay(temporaryFolder(), [change(value)]))
    const service = await startService({ overlays: paths })
    expect((await service.send('POST', '/domaingroups', { name: 'ab' })).status).toBe(200)
    const reversed = await startService({ overlays: paths.toReversed() })
    expect((await reversed.send('POST', '/domaingroups', { name: 'ab' })).status).toBe(413)
  })

  it('are refused when the document then is none, with its place in it', async () => {
    const action = { target: "$.paths['/dmarc']['x-quota']", update: { limit: 'ten' } }
    expect((await refusalOf(loadContract({ overlays: [overlay(action)] }))).message).toBe(
      'openapi.yaml with change.yaml#/paths/~1dmarc/x-quota/limit: The value is "ten" but must be of type integer.',
    )
  })

  it.each([
    "$.components['x-errors'].not_found",
    "$['components']['x-errors']['not_found']",
    "$['x-errors']['not_found']",
  ])('find the error catalogue at its former place as well: %s', async (target) => {
    const { catalogue } = await loadContract({ overlays: [overlay({ target, update: { status: 410 } })] })
    expect(catalogue.answer({ code: 'not_found' }).status).toBe(410)
  })
})
