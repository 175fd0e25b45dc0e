import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import SwaggerParser from '@apidevtools/swagger-parser'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { follow } from '../../src/contract/extensions.ts'
import { tolerantDocument, writeTolerantDocument } from '../../src/contract/tolerant.ts'
import { isObject, type Json, pointTo, valueAt } from '../../src/ground/json.ts'
import { OWN_DOCUMENT, objectsIn, ownDocument } from '../support/own-document.ts'
import { ROOT } from '../support/program-process.ts'
import { startService } from '../support/service.ts'
import { playStory } from '../support/story.ts'

const TOLERANT_DOCUMENT = join(ROOT, 'openapi.tolerant.yaml')

/** A validator of the bodies of responses, made by somebody who has nothing but the document and ajv. */
function validatorOf(path: string): (operation: { path: string; method: string }, status: number) => ValidateFunction {
  const document = load(readFileSync(path, 'utf8')) as Json
  const refuse = (...words: unknown[]) => {
    throw new Error(words.join(' '))
  }
  const ajv = new Ajv2020({ logger: { log: refuse, warn: refuse, error: refuse }, validateFormats: false })
  // In its strict mode, ajv must be told which other words there are. It does nothing with them.
  const words = [...objectsIn(document)].flatMap(({ value }) => Object.keys(value).filter((word) => /^x-/.test(word)))
  ajv.addVocabulary([...new Set(['example', ...Object.keys(document), ...words])])
  ajv.addSchema(document, 'document')
  return ({ path, method }, status) => {
    const responses = valueAt(document, `${pointTo('/paths', path)}/${method.toLowerCase()}/responses`)
    const response = follow(document, valueAt(responses, `/${status}`))
    const { $ref } = valueAt(response, '/content/application~1json/schema') as { $ref: string }
    return ajv.getSchema(`document${$ref}`) as ValidateFunction
  }
}

const LIST_DMARC = { path: '/dmarc', method: 'GET' }

describe.each([OWN_DOCUMENT, TOLERANT_DOCUMENT])('ajv in its strict mode accepts by %s', (path) => {
  it('every response of a session', async () => {
    const validator = validatorOf(path)
    for await (const { operation, name, received } of playStory(await startService())) {
      const validate = validator(operation, received.status)
      validate(received.body)
      expect(validate.errors ?? [], `${operation.id} ${name}`).toEqual([])
    }
  })

  it('every record, whatever its decimals are, and of values that the service does not have what it may', async () => {
    const { body } = await (await startService({ fixture: 'agency' })).get('/dmarc')
    const validate = validatorOf(path)(LIST_DMARC, 200)
    validate(body)
    expect(validate.errors ?? []).toEqual([])
    expect((body.data as { dkim: number }[]).some(({ dkim }) => !Number.isInteger(dkim / 0.1))).toBe(true)
    body.data[0].p = 'monitor'
    expect(validate(body)).toBe(path === TOLERANT_DOCUMENT)
  })
})

/** A copy in which each schema has its `x-constraints` as keywords of its own. */
function withAllConstraints(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withAllConstraints)
  if (!isObject(value)) return value
  const { 'x-constraints': constraints, ...rest } = value
  const all = { ...rest, ...(constraints as Json | undefined) }
  return Object.fromEntries(Object.entries(all).map(([name, each]) => [name, withAllConstraints(each)]))
}

it('openapi.yaml is valid OpenAPI 3.1 for a parser that knows none of its extensions, whose references lead it where they lead us', async () => {
  const api = await SwaggerParser.validate(ownDocument() as never)
  expect(api.info.title).toBe('Domain Monitoring Service API')
  const { document } = await loadContract()
  const dereferenced = await SwaggerParser.dereference(structuredClone(document.source) as never)
  expect(withAllConstraints(dereferenced)).toEqual(document.resolved)
})

it('openapi.tolerant.yaml is what the build makes of openapi.yaml as it is now', async () => {
  const built = readFileSync(TOLERANT_DOCUMENT, 'utf8')
  expect(built).toBe(await writeTolerantDocument(ownDocument()))
  expect(load(built)).toEqual(tolerantDocument(ownDocument()))
})
