import { describe, expect, it } from 'vitest'
import { tolerantDocument } from '../../src/contract/tolerant.ts'
import { type Json, valueAt } from '../../src/ground/json.ts'
import { objectAt, objectsIn, ownDocument } from '../support/own-document.ts'

const own = ownDocument()
const tolerant = tolerantDocument(own)
/** Schemas, and what is around them; not the values of examples. */
const objects = [...objectsIn(tolerant)].filter(({ pointer }) => !/\/(example|value)(\/|$)/.test(pointer))

function placesOf(...words: string[]): string[] {
  return objects.flatMap(({ pointer, value }) =>
    words.filter((word) => Object.hasOwn(value, word)).map((word) => `${pointer}/${word}`),
  )
}

describe('openapi.tolerant.yaml', () => {
  it('describes the same operations with the same names', () => {
    for (const part of ['paths', 'components/schemas', 'components/headers', 'servers', 'security', 'tags']) {
      expect(Object.keys(valueAt(tolerant, `/${part}`) as Json)).toEqual(Object.keys(valueAt(own, `/${part}`) as Json))
    }
    const idsIn = (given: Json) => [...objectsIn(given['paths'])].flatMap(({ value }) => value['operationId'] ?? [])
    expect(idsIn(tolerant)).toEqual(idsIn(own))
  })

  it('has no extension', () => {
    const words = objects.flatMap(({ value }) => Object.keys(value).filter((word) => /^x-/.test(word)))
    expect(words).toEqual([])
  })

  it('has no closed object, no enumeration, no format and no text that must be the same', () => {
    const places = placesOf('additionalProperties', 'enum', 'format', 'pattern', 'uniqueItems', 'default')
    // There is a default for the response to every other status.
    expect(places.filter((place) => !place.endsWith('/responses/default'))).toEqual([])
    const constants = objects.filter(({ value }) => Object.hasOwn(value, 'const'))
    expect(new Set(constants.map(({ pointer }) => pointer.split('/').at(-1)))).toEqual(new Set(['success']))
  })

  it('has the limits that the specification gives, and no other', () => {
    const lengths = placesOf('minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties')
    expect(lengths.map((place) => [place, valueAt(tolerant, place)])).toEqual([
      ['/components/schemas/DomainsToAdd/properties/domains/maxItems', 50],
      ['/components/schemas/DomainGroupChanges/minProperties', 1],
      ['/components/schemas/DomainGroupName/minLength', 1],
      ['/components/schemas/DomainGroupName/maxLength', 100],
    ])
    expect(placesOf('minimum', 'maximum', 'multipleOf')).toEqual([])
  })

  it('says which values of an enumeration are known', () => {
    const { description, examples } = objectAt(tolerant, '/components/schemas/Policy')
    expect(description).toMatch(/DMARC\. Known values: `none`, `quarantine`, `reject`\. There may be others\.$/)
    expect(examples).toEqual(['none', 'quarantine', 'reject'])
  })

  it('requires no field that is deprecated, which pct alone is', () => {
    const { required, properties } = objectAt(tolerant, '/components/schemas/DmarcRecord')
    expect(Object.keys(properties as Json)).toContain('pct')
    expect(required).not.toContain('pct')
    expect(required).toContain('testing')
  })

  it('takes any other status for a refusal', () => {
    for (const { value } of objects.filter(({ value }) => Object.hasOwn(value, 'operationId'))) {
      expect(valueAt(value, '/responses/default')).toEqual({ $ref: '#/components/responses/OtherRefusal' })
    }
  })
})
