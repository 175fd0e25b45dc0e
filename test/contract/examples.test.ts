import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import { startService } from '../support/service.ts'
import { Examples, examplesOf, namedAt, playStory, STORY } from '../support/story.ts'

const contract = await loadContract()
const operations = contract.operations.map((operation) => [operation.id, new Examples(operation, contract)] as const)

/** Codes that the content of a request does not lead to, if it has any. */
const BESIDE_CONTENT = ['unauthorized', 'rate_limited', 'request_too_large', 'missing_id', 'internal_error']

describe('every operation', () => {
  it.each(operations)('%s has as many requests as named responses, with the same names', (_, examples) => {
    const answered = examples.responses.map(({ name }) => name)
    expect(answered.toSorted()).toEqual(examples.requests.toSorted())
    expect(new Set(answered).size).toBe(answered.length)
  })

  it.each(operations)('%s has each name at its body and at each required parameter', (_, examples) => {
    const required = examples.parameters.filter((parameter) => parameter['required'] === true)
    const bodies = examples.operation.readsBody ? [examples.bodies] : []
    for (const part of [...bodies, ...required.map((parameter) => namedAt(parameter))]) {
      expect([...part.keys()].toSorted()).toEqual(examples.requests.toSorted())
    }
  })

  it.each(operations)('%s has no name where the content of a request does not lead to the response', (_, examples) => {
    const { readsBody, parameters, responses } = examples.operation
    for (const [status, { codes }] of responses) {
      // One response serves all operations whose request is malformed in any way.
      if (examples.unnamed(status) === undefined || status === 400) continue
      const isBeside = codes.size > 0 && [...codes].every((code) => BESIDE_CONTENT.includes(code))
      expect(isBeside || (!readsBody && parameters.size === 0), `${status}`).toBe(true)
    }
  })

  it('is part of the story', () => {
    expect(STORY.toSorted()).toEqual(operations.map(([id]) => id).toSorted())
  })
})

describe('the story of the examples', () => {
  it('happens to a new account, with each status and each body, ids aside', async () => {
    let played = 0
    for await (const { operation, name, expected, received } of playStory(await startService())) {
      const { status, body } = received
      expect({ status, body }, `${operation.id} ${name}`).toEqual(expected)
      played++
    }
    expect(played).toBe(operations.reduce((sum, [, { requests }]) => sum + requests.length, 3))
  })

  it.each<[status: number, id: string, request: string, sent?: unknown, options?: ServerOptions]>([
    [401, 'listDomains', 'GET /domains', null],
    [403, 'listDomains', 'GET /domains', undefined, { plan: 'below-stone' }],
    [413, 'addDomains', 'POST /domains', ' '.repeat(1_048_577)],
    [429, 'listDmarc', 'GET /dmarc'],
    [400, 'deleteDomainGroup', 'DELETE /domaingroups'],
    [400, 'addDomains', 'POST /domains', { domains: ['no_host'] }],
  ])('has a %d beside it, which is what %s answers', async (status, id, request, sent, options) => {
    const service = await startService(options)
    const [method = '', path = ''] = request.split(' ')
    if (status === 429) for (let before = 0; before < 10; before++) await service.get(path)
    const headers = sent === null ? { authorization: null } : {}
    const { status: given, body } = await service.send(method, path, sent ?? undefined, headers)
    expect(given).toBe(status)
    expect(body).toEqual(examplesOf(id, contract).unnamed(status))
  })
})
