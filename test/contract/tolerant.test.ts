import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { tolerantDocument, writeTolerantDocument } from '../../src/contract/tolerant.ts'
import { type Json, valueAt } from '../../src/ground/json.ts'
import { objectAt, objectsIn, ownDocument } from '../support/own-document.ts'
import { ROOT } from '../support/program-process.ts'

const { document } = await loadContract()
const tolerant = tolerantDocument(ownDocument())
/** Schemas, and what is around them; not the values of examples. */
const objects = [...objectsIn(tolerant)].filter(({ pointer }) => !/\/(example|value)(\/|$)/.test(pointer))

function placesOf(...words: string[]): string[] {
  return objects.flatMap(({ pointer, value }) =>
    words.filter((word) => Object.hasOwn(value, word)).map((word) => `${pointer}/${word}`),
  )
}

describe('openapi.tolerant.yaml', () => {
  it('is what the build makes of openapi.yaml as it is now', async () => {
    const built = readFileSync(join(ROOT, 'openapi.tolerant.yaml'), 'utf8')
    expect(built).toBe(await writeTolerantDocument(document.source))
    expect(load(built)).toEqual(tolerant)
  })

  it('describes the same operations with the same names', () => {
    const own = ownDocument()
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
    expect(placesOf('additionalProperties', 'enum', 'format', 'pattern', 'uniqueItems', 'default')).toEqual(
      [
        // The response to every other status.
        ...[
          '/dmarc/get',
          '/domains/get',
          '/domains/post',
          '/domains/delete',
          '/domaingroups/get',
          '/domaingroups/post',
        ],
        ...['/domaingroups/patch', '/domaingroups/delete'],
      ].map((operation) => `/paths/~1${operation.slice(1)}/responses/default`),
    )
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

  it('requires no field that is deprecated', () => {
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

  it('leaves the document that it is made from as it is', () => {
    const own = ownDocument()
    tolerantDocument(own)
    expect(own).toEqual(ownDocument())
  })
})
