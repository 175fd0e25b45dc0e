import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { ContractError } from '../../src/contract/contract-error.ts'
import { applyOverlay, asOverlay, type Overlay, readOverlay } from '../../src/contract/overlay.ts'
import type { Json } from '../../src/ground/json.ts'
import { ONE_SENTENCE, objectAt } from '../support/own-document.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const INFO = { title: 'A change', version: '1.0.0' }

function overlay(...actions: Json[]): Overlay {
  return asOverlay({ overlay: '1.0.0', info: INFO, actions }, 'change.yaml')
}

/** A small document to change, frozen, so that changing it in place would throw. */
function library(): Json {
  return freeze({
    title: 'Library',
    tags: ['old', 'small'],
    shelf: { place: { floor: 1, room: 'east' }, open: true },
    books: [
      { name: 'Emma', pages: 480, tags: ['novel'], lent: { days: 14 } },
      { name: 'Faust', pages: 136, tags: ['play'] },
      { name: 'Walden', pages: 320, tags: [] },
    ],
  })
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
  it.each<[what: string, action: Json, pointer: string, becomes: unknown]>([
    ['replaces a single value', { target: '$', update: { title: 'Archive' } }, '/title', 'Archive'],
    ['adds a field', { target: '$.shelf', update: { wood: 'oak' } }, '/shelf/wood', 'oak'],
    [
      'merges into objects within objects and keeps the other fields',
      { target: '$', update: { shelf: { place: { floor: 2 } } } },
      '/shelf',
      { place: { floor: 2, room: 'east' }, open: true },
    ],
    ['appends an array to an array', { target: '$', update: { tags: ['new'] } }, '/tags', ['old', 'small', 'new']],
    [
      'keeps what stands twice in the arrays',
      { target: '$', update: { tags: ['old'] } },
      '/tags',
      ['old', 'small', 'old'],
    ],
    ['puts an array in the place of an object', { target: '$', update: { shelf: [] } }, '/shelf', []],
    ['puts an object in the place of an array', { target: '$', update: { tags: { a: 1 } } }, '/tags', { a: 1 }],
    ['puts a single value in the place of an object', { target: '$', update: { shelf: 3 } }, '/shelf', 3],
    [
      'puts an object in the place of a single value',
      { target: '$', update: { title: { en: 'X' } } },
      '/title',
      { en: 'X' },
    ],
    ['sets null, which removes nothing', { target: '$', update: { shelf: null } }, '/shelf', null],
    ['sets false', { target: '$.shelf', update: { open: false } }, '/shelf/open', false],
    ['of an array appends one entry', { target: '$.tags', update: 'new' }, '/tags', ['old', 'small', 'new']],
    [
      'of an array appends an array as one entry',
      { target: '$.tags', update: ['a', 'b'] },
      '/tags',
      ['old', 'small', ['a', 'b']],
    ],
    ['of an empty array appends too', { target: '$.books[2].tags', update: 'essay' }, '/books/2/tags', ['essay']],
    ['that is empty changes nothing', { target: '$.shelf', update: {} }, '/shelf', library()['shelf']],
    ['without effect beside `remove: false`', { target: '$', update: { title: 'A' }, remove: false }, '/title', 'A'],
  ])('%s', async (_, action, pointer, becomes) => {
    const changed = await apply(action)
    expect(
      pointer
        .split('/')
        .slice(1)
        .reduce<unknown>((value, step) => (value as Json)[step], changed),
    ).toEqual(becomes)
  })

  it('changes everything that the target selects', async () => {
    const { books } = await apply({ target: '$.books[*]', update: { lent: { to: 'Ann' } } })
    expect(books).toMatchObject([{ lent: { days: 14, to: 'Ann' } }, { lent: { to: 'Ann' } }, { lent: { to: 'Ann' } }])
  })

  it('changes parent and child when the target selects both', async () => {
    const { shelf } = await apply({ target: '$..[?@.place || @.floor]', update: { seen: true } })
    expect(shelf).toEqual({ place: { floor: 1, room: 'east', seen: true }, open: true, seen: true })
  })

  it('leaves order and fields of the rest as they were', async () => {
    const changed = await apply({ target: '$.shelf', update: { open: false } })
    expect(JSON.stringify(changed)).toBe(JSON.stringify(library()).replace('"open":true', '"open":false'))
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
  it.each<[what: string, target: string, pointer: '/books' | '/tags' | '/shelf', becomes: unknown]>([
    ['of a field', '$.shelf.place', '/shelf', { open: true }],
    ['of a single value', '$.shelf.open', '/shelf', { place: { floor: 1, room: 'east' } }],
    ['of every field', '$.shelf.*', '/shelf', {}],
    ['of a nested field', '$.shelf.place.floor', '/shelf', { place: { room: 'east' }, open: true }],
    ['of an entry of an array', '$.tags[0]', '/tags', ['small']],
    ['of an entry counted from the end', '$.tags[-1]', '/tags', ['old']],
    ['of neighbours in an array', '$.books[0,1]', '/books', [library()['books']].flat().slice(2)],
    ['of a slice of an array', '$.books[1:]', '/books', [library()['books']].flat().slice(0, 1)],
    ['of entries named from the last to the first', '$.books[2,0]', '/books', [library()['books']].flat().slice(1, 2)],
    ['of a backward slice', '$.books[::-2]', '/books', [library()['books']].flat().slice(1, 2)],
    ['of an entry that is named twice', '$.tags[0,0]', '/tags', ['small']],
    ['of all entries', '$.tags[*]', '/tags', []],
    ['of entries chosen by a filter', '$.books[?@.pages > 200]', '/books', [library()['books']].flat().slice(1, 2)],
  ])('%s', async (_, target, pointer, becomes) => {
    expect((await apply({ target, remove: true }))[pointer.slice(1)]).toEqual(becomes)
  })

  it('takes precedence over an update in the same action', async () => {
    expect(await apply({ target: '$.title', remove: true, update: { a: 1 } })).not.toHaveProperty('title')
  })

  it('of entries at any depth leaves all others where they were (seed 20260115)', async () => {
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'medium' },
        fc.nat(1),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('tree'), { maxKeys: 3, noNullPrototype: true }),
      ),
    }))
    const isZero = (value: unknown) => value === 0
    function withoutZeros(value: unknown): unknown {
      if (Array.isArray(value)) return value.filter((item) => !isZero(item)).map(withoutZeros)
      if (typeof value !== 'object' || value === null) return value
      const kept = Object.entries(value).filter(([, item]) => !isZero(item))
      return Object.fromEntries(kept.map(([key, item]) => [key, withoutZeros(item)]))
    }
    await fc.assert(
      fc.asyncProperty(fc.array(tree, { minLength: 1, maxLength: 4 }), async (items) => {
        const document = { zero: 0, items }
        const changed = await applyOverlay(document, overlay({ target: '$..[?@ == 0]', remove: true }))
        expect(changed).toEqual(withoutZeros(document))
      }),
      { seed: 20260115, numRuns: 500 },
    )
  })

  it('of parents and children at once leaves neither', async () => {
    expect((await apply({ target: '$.shelf..*', remove: true }))['shelf']).toEqual({})
  })
})

describe('a target is a JSONPath of RFC 9535', () => {
  it.each<[target: string, names: string[]]>([
    ['$.books[0]', ['Emma']],
    ["$['books'][1]", ['Faust']],
    ['$.books.*', ['Emma', 'Faust', 'Walden']],
    ['$.books[-1:]', ['Walden']],
    ['$.books[::2]', ['Emma', 'Walden']],
    ["$.books[?@.name == 'Faust']", ['Faust']],
    ["$.books[?@.name != 'Faust' && @.pages < 400]", ['Walden']],
    ['$.books[?@.lent]', ['Emma']],
    ['$.books[?!@.lent]', ['Faust', 'Walden']],
    ['$.books[?@.lent.days == 14]', ['Emma']],
    ['$.books[?length(@.name) == 5]', ['Faust']],
    ['$.books[?count(@.tags.*) == 0]', ['Walden']],
    ["$.books[?match(@.name, '[EF].*')]", ['Emma', 'Faust']],
    ["$.books[?search(@.name, 'al')]", ['Walden']],
    ["$.books[?value(@.tags[0]) == 'play']", ['Faust']],
    ['$..[?@.pages]', ['Emma', 'Faust', 'Walden']],
    ["$.books[0, ?@.name == 'Walden']", ['Emma', 'Walden']],
    ['$.books[?$.shelf.open == true]', ['Emma', 'Faust', 'Walden']],
  ])('%s', async (target, names) => {
    const { books } = await apply({ target, update: { chosen: true } })
    expect((books as Json[]).filter((book) => book['chosen'] === true).map((book) => book['name'])).toEqual(names)
  })

  it('finds keys with slashes and quotes', async () => {
    const document = { paths: { "/it's": { get: {} } } }
    const target = String.raw`$.paths['/it\'s'].get`
    expect(await applyOverlay(document, overlay({ target, update: { a: 1 } }))).toEqual({
      paths: { "/it's": { get: { a: 1 } } },
    })
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

  it('find what an action before them has added', async () => {
    const { shelf } = await apply(
      { target: '$.shelf', update: { lamp: {} } },
      { target: '$.shelf.lamp', update: { on: true } },
    )
    expect(shelf).toMatchObject({ lamp: { on: true } })
  })

  it('do not find what an action before them has removed', async () => {
    const error = await refusalOf(apply({ target: '$.shelf', remove: true }, { target: '$.shelf', update: { a: 1 } }))
    expect(error.message).toBe('change.yaml#/actions/1/target: The target $.shelf selects nothing in openapi.yaml.')
  })

  it('may carry a description and extensions', async () => {
    const action = { target: '$', description: 'Why.', 'x-ticket': 7, update: { title: 'Archive' } }
    expect(await apply(action)).toMatchObject({ title: 'Archive' })
  })

  it('leave the document that they are applied to untouched', async () => {
    const document = library()
    const changed = await applyOverlay(
      document,
      overlay({ target: '$.books[*].tags', update: 'x' }, { target: '$.shelf', remove: true }),
    )
    expect(document).toEqual(library())
    expect(changed).not.toEqual(library())
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
  it.each<[what: string, action: Json, place: string, reason: string]>([
    [
      'whose target selects nothing',
      { target: '$.nowhere', update: {} },
      '/target',
      'The target $.nowhere selects nothing in openapi.yaml.',
    ],
    [
      'whose removal selects nothing',
      { target: '$.nowhere', remove: true },
      '/target',
      'The target $.nowhere selects nothing in openapi.yaml.',
    ],
    [
      'whose filter selects nothing',
      { target: '$.books[?@.pages > 900]', remove: true },
      '/target',
      'The target $.books[?@.pages > 900] selects nothing in openapi.yaml.',
    ],
    [
      'that updates a single value',
      { target: '$.title', update: 'Archive' },
      '/target',
      'The target $.title selects a single value; select the object that holds it.',
    ],
    [
      'that updates a single value with an object',
      { target: '$.title', update: { en: 'X' } },
      '/target',
      'The target $.title selects a single value; select the object that holds it.',
    ],
    [
      'that updates objects and single values',
      { target: '$.shelf.*', update: {} },
      '/target',
      'The target $.shelf.* selects a single value; select the object that holds it.',
    ],
    [
      'that updates an object with text',
      { target: '$.shelf', update: 'oak' },
      '/update',
      'The update of an object must be an object.',
    ],
    [
      'that updates an object with an array',
      { target: '$.shelf', update: ['oak'] },
      '/update',
      'The update of an object must be an object.',
    ],
    [
      'that updates an object with null',
      { target: '$.shelf', update: null },
      '/update',
      'The update of an object must be an object.',
    ],
    ['that removes the document', { target: '$', remove: true }, '/target', 'The document itself cannot be removed.'],
  ])('%s', async (_, action, place, reason) => {
    const error = await refusalOf(apply(action))
    expect(error.message).toBe(`change.yaml#/actions/0${place}: ${reason}`)
  })

  it.each([
    ['books', 'does not start with $'],
    ['', 'is empty'],
    ['$.books[', 'is cut off'],
    ['$.books[?@.pages >]', 'compares with nothing'],
    ['$.books[?nonsense(@)]', 'calls an unknown function'],
    ['$.books[01]', 'has an index with a leading zero'],
    ["$['books", 'has a quote that is never closed'],
  ])('whose target %j %s', async (target) => {
    const error = await refusalOf(apply({ target, update: {} }))
    expect(error.message).toContain(`change.yaml#/actions/0/target: The target ${target} is no JSONPath (RFC 9535): `)
    expect(error.message).toMatch(ONE_SENTENCE)
  })

  it('whose target ends with the line break of a YAML block, in one line all the same', async () => {
    const error = await refusalOf(apply({ target: '$.books\n', update: {} }))
    expect(error.message).toMatch(ONE_SENTENCE)
  })
})

describe('an overlay is refused', () => {
  const action = { target: '$', update: { a: 1 } }

  it.each<[what: string, document: unknown, place: string, reason: string]>([
    [
      'that is a list',
      [action],
      '',
      'This is no OpenAPI Overlay: it needs the field `overlay` with the version 1.0.0.',
    ],
    ['that is null', null, '', 'This is no OpenAPI Overlay: it needs the field `overlay` with the version 1.0.0.'],
    [
      'that names no version',
      { actions: [action] },
      '',
      'This is no OpenAPI Overlay: it needs the field `overlay` with the version 1.0.0.',
    ],
    [
      'whose version is a number',
      { overlay: 1, actions: [action] },
      '',
      'This is no OpenAPI Overlay: it needs the field `overlay` with the version 1.0.0.',
    ],
    [
      'that is an OpenAPI document',
      { openapi: '3.1.1' },
      '',
      'This is no OpenAPI Overlay: it needs the field `overlay` with the version 1.0.0.',
    ],
    [
      'of a later version',
      { overlay: '1.1.0', actions: [action] },
      '#/overlay',
      'Overlay 1.1.0 is not supported; 1.0.0 is.',
    ],
    [
      'of half a version',
      { overlay: '1.0', actions: [action] },
      '#/overlay',
      'Overlay 1.0 is not supported; 1.0.0 is.',
    ],
    ['without actions', { overlay: '1.0.0' }, '#/actions', 'An overlay has at least one action.'],
    ['with no action', { overlay: '1.0.0', actions: [] }, '#/actions', 'An overlay has at least one action.'],
    [
      'whose actions are an object',
      { overlay: '1.0.0', actions: action },
      '#/actions',
      'An overlay has at least one action.',
    ],
    [
      'with an action that is text',
      { overlay: '1.0.0', actions: [action, '$'] },
      '#/actions/1',
      'An action must be an object.',
    ],
    [
      'with an action that is null',
      { overlay: '1.0.0', actions: [null] },
      '#/actions/0',
      'An action must be an object.',
    ],
    [
      'with an action without a target',
      { overlay: '1.0.0', actions: [{ update: {} }] },
      '#/actions/0/target',
      'An action needs a target, a JSONPath.',
    ],
    [
      'with a target that is a list',
      { overlay: '1.0.0', actions: [{ target: ['$'], update: {} }] },
      '#/actions/0/target',
      'An action needs a target, a JSONPath.',
    ],
    [
      'with an action that does nothing',
      { overlay: '1.0.0', actions: [{ target: '$' }] },
      '#/actions/0',
      'An action needs `update`, or `remove: true`.',
    ],
    [
      'with an action that removes nothing',
      { overlay: '1.0.0', actions: [{ target: '$', remove: false }] },
      '#/actions/0',
      'An action needs `update`, or `remove: true`.',
    ],
    [
      'with a `remove` that is text',
      { overlay: '1.0.0', actions: [{ target: '$', remove: 'yes' }] },
      '#/actions/0/remove',
      '`remove` must be true or false.',
    ],
    [
      'with a misspelt field',
      { overlay: '1.0.0', actions: [{ ...action, updaet: {} }] },
      '#/actions/0/updaet',
      'An action of Overlay 1.0 does not have this field.',
    ],
    [
      'with a field of Overlay 1.1',
      { overlay: '1.0.0', actions: [{ ...action, copy: '$.a' }] },
      '#/actions/0/copy',
      'An action of Overlay 1.0 does not have this field.',
    ],
  ])('%s', (_, document, place, reason) => {
    expect(reason).toMatch(ONE_SENTENCE)
    expect(() => asOverlay(document, 'change.yaml')).toThrow(new ContractError('change.yaml', place.slice(1), reason))
  })

  it.each<[what: string, text: string, place: string, reason: string]>([
    ['that is no YAML', 'overlay: [1.0.0\nactions: []', ':2:1', 'This is not valid YAML: deficient indentation.'],
    ['that is text', 'Hello', '', 'This is no OpenAPI Overlay: it needs the field `overlay` with the version 1.0.0.'],
    [
      'that is broken within',
      'overlay: 1.0.0\nactions: [{}]',
      '#/actions/0/target',
      'An action needs a target, a JSONPath.',
    ],
    [
      'whose alias is part of itself',
      'overlay: 1.0.0\nactions: [{ target: $, update: &a { contact: *a } }]',
      '',
      'One of its aliases is part of what it stands for.',
    ],
    [
      'whose aliases multiply without end',
      `a: &a0 [x, x, x, x, x, x, x, x, x, x]\n${Array.from({ length: 9 }, (_, index) => `b${index}: &a${index + 1} [${Array(10).fill(`*a${index}`).join(', ')}]`).join('\n')}`,
      '',
      'Its aliases expand to more than 1000000 values.',
    ],
  ])('as a file %s', async (_, text, place, reason) => {
    const path = join(temporaryFolder(), 'change.yaml')
    writeFileSync(path, text)
    const error = await refusalOf(readOverlay(path))
    expect(error.message).toBe(`${path}${place}: ${reason}`)
  })

  it('as a file that is not there', async () => {
    const path = join(temporaryFolder(), 'nowhere.yaml')
    const error = await refusalOf(readOverlay(path))
    expect(error.message).toBe(`${path}: The overlay cannot be read (ENOENT).`)
  })
})

describe('an overlay file', () => {
  it.each([
    ['YAML', 'overlay: 1.0.0\ninfo: { title: A, version: 1.0.0 }\nactions:\n  - target: $\n    update: { a: 1 }\n'],
    ['JSON', JSON.stringify({ overlay: '1.0.0', info: INFO, actions: [{ target: '$', update: { a: 1 } }] })],
    ['a patch release of 1.0', 'overlay: 1.0.1\nactions: [{ target: $, update: { a: 1 } }]\n'],
  ])('may be %s', async (_, text) => {
    const path = join(temporaryFolder(), 'change.yaml')
    writeFileSync(path, text)
    expect(await readOverlay(path)).toEqual({ name: path, actions: [{ target: '$', update: { a: 1 } }] })
  })
})

describe('overlays of openapi.yaml', () => {
  const bodyLimit = (value: unknown) => overlay({ target: "$['x-settings']['body-limit']", update: { value } })

  it('are applied one after the other', async () => {
    expect((await loadContract({ overlays: [bodyLimit(10), bodyLimit(20)] })).settings.bodyLimit).toBe(20)
    expect((await loadContract({ overlays: [bodyLimit(20), bodyLimit(10)] })).settings.bodyLimit).toBe(10)
  })

  it('do not touch the document of later servers', async () => {
    await loadContract({ overlays: [bodyLimit(10)] })
    expect((await loadContract()).settings.bodyLimit).toBe(1_048_576)
  })

  it('given to a server as files, are applied in the order given', async () => {
    const folder = temporaryFolder()
    const paths = [10, 20].map((value) => join(folder, `${value}.yaml`))
    for (const [index, path] of paths.entries()) {
      const change = { target: "$['x-settings']['body-limit']", update: { value: (index + 1) * 10 } }
      writeFileSync(path, JSON.stringify({ overlay: '1.0.0', info: INFO, actions: [change] }))
    }
    const service = await startService({ overlays: paths })
    expect((await service.send('POST', '/domaingroups', { name: 'ab' })).status).toBe(200)
    const reversed = await startService({ overlays: paths.toReversed() })
    expect((await reversed.send('POST', '/domaingroups', { name: 'ab' })).status).toBe(413)
  })

  it.each<[what: string, action: Json, place: string, reason: RegExp]>([
    [
      'an unknown extension',
      { target: '$', update: { 'x-colour': 'blue' } },
      '#/x-colour',
      /^The extension x-colour is unknown; known are x-assumption, /,
    ],
    [
      'a misshapen extension',
      { target: "$.paths['/dmarc']['x-quota']", update: { limit: 'ten' } },
      '#/paths/~1dmarc/x-quota/limit',
      /^The value is "ten" but must be of type integer\.$/,
    ],
    [
      'a setting out of its range',
      { target: "$['x-settings'].head", update: { value: 'never' } },
      '#/x-settings/head/value',
      /^The value is "never" but must be one of "get", "wrong-method"\.$/,
    ],
    [
      'an id that is taken',
      { target: "$['x-settings'].head['x-assumption']", update: { id: 'routing' } },
      '#/x-settings/head/x-assumption',
      /^The id routing is taken by /,
    ],
    ['no valid OpenAPI', { target: '$.info.title', remove: true }, '#/info/title', /^The value is missing\.$/],
    [
      'an unknown code',
      { target: '$.components.schemas.Hostname', update: { 'x-error': { format: 'no_such_code' } } },
      '#/components/schemas/Hostname/x-error/format',
      /^The code no_such_code is not in the catalogue /,
    ],
  ])('are refused when the document then has %s', async (_, action, place, reason) => {
    const { message } = await refusalOf(loadContract({ overlays: [overlay(action)] }))
    const start = `openapi.yaml${place}: `
    expect(message.slice(0, start.length)).toBe(start)
    expect(message.slice(start.length)).toMatch(reason)
  })

  it('read YAML with a key __proto__ as what it says', async () => {
    const update = load('__proto__: { polluted: true }')
    const changed = await applyOverlay({ a: {} }, overlay({ target: '$.a', update }))
    expect(Object.keys(objectAt(changed, '/a'))).toEqual(['__proto__'])
    expect(({} as Json)['polluted']).toBeUndefined()
  })
})
