import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/contract/api.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { isObject, type Json, valueAt } from '../../src/ground/json.ts'
import { askControl } from '../support/control-plane.ts'
import { objectAt } from '../support/own-document.ts'
import { startService, type TestResponse, type TestService } from '../support/service.ts'

const contract = await loadContract()
const { resolved } = contract.document
const operations = contract.operations.map((operation) => [operation.id, operation] as const)

/** In the order of the story that the examples tell. */
const STORY = [
  ...['addDomains', 'listDomains', 'listDmarc', 'createDomainGroup', 'listDomainGroups', 'updateDomainGroup'],
  ...['deleteDomains', 'deleteDomainGroup'],
]

const MEDIA = '/content/application~1json'
const KEYLESS = { authorization: null }

function described({ path, method }: Operation): Json {
  return objectAt(resolved, `/paths/~1${path.slice(1)}/${method.toLowerCase()}`)
}

/** The named examples at a JSON pointer. */
function namedAt(holder: unknown, pointer = ''): Map<string, unknown> {
  const examples = (valueAt(holder, `${pointer}/examples`) ?? {}) as Record<string, { value: unknown }>
  return new Map(Object.entries(examples).map(([name, { value }]) => [name, value]))
}

function parametersOf(operation: Operation): Json[] {
  return (described(operation)['parameters'] ?? []) as Json[]
}

function bodiesOf(operation: Operation): Map<string, unknown> {
  return namedAt(described(operation)['requestBody'], MEDIA)
}

/** The names of the requests of an operation, in the order of the document. */
function requestsOf(operation: Operation): string[] {
  return [
    ...new Set([
      ...bodiesOf(operation).keys(),
      ...parametersOf(operation).flatMap((each) => [...namedAt(each).keys()]),
    ]),
  ]
}

/** The named responses of an operation. */
function responsesOf(operation: Operation): { name: string; status: number; body: unknown }[] {
  return [...operation.responses.keys()].flatMap((status) =>
    [...namedAt(described(operation), `/responses/${status}${MEDIA}`)].map(([name, body]) => ({ name, status, body })),
  )
}

/** The response example without a name. */
function unnamedOf(operation: Operation, status: number): unknown {
  return valueAt(described(operation), `/responses/${status}${MEDIA}/example`)
}

function operationOf(id: string): Operation {
  const operation = contract.operations.find((each) => each.id === id)
  if (operation === undefined) throw new Error(`There is no operation ${id}.`)
  return operation
}

describe('every operation', () => {
  it.each(operations)(
    '%s has a request for each named response, and a response for each named request',
    (_, operation) => {
      const answered = responsesOf(operation).map(({ name }) => name)
      expect(answered.toSorted()).toEqual(requestsOf(operation).toSorted())
      expect(new Set(answered).size).toBe(answered.length)
    },
  )

  it.each(operations)(
    '%s has whole requests: each name is at the body and at each parameter that is required',
    (_, operation) => {
      const required = parametersOf(operation).filter((parameter) => parameter['required'] === true)
      const parts = [...(operation.readsBody ? [bodiesOf(operation)] : []), ...required.map((each) => namedAt(each))]
      for (const part of parts) expect([...part.keys()].toSorted()).toEqual(requestsOf(operation).toSorted())
    },
  )

  it.each(operations)(
    '%s has a response without a name only where no content of a request leads to it',
    (_, operation) => {
      const beside = ['unauthorized', 'rate_limited', 'request_too_large', 'missing_id', 'internal_error']
      for (const [status, { codes }] of operation.responses) {
        if (unnamedOf(operation, status) === undefined) continue
        const takesNothing = !operation.readsBody && operation.parameters.size === 0
        const isBeside = codes.size > 0 && [...codes].every((code) => beside.includes(code))
        expect(isBeside || takesNothing, `${status}`).toBe(true)
      }
    },
  )

  it('is part of the story', () => {
    expect(STORY.toSorted()).toEqual(operations.map(([id]) => id).toSorted())
  })
})

/** Puts real ids in the place of those of the examples. */
class Ids {
  readonly #real = new Map<string, string>()

  /** Remembers the id of a new group. */
  learn(example: unknown, received: unknown): void {
    const [inExample, real] = [example, received].map((body) => valueAt(body, '/data/group/id'))
    if (typeof inExample === 'string' && typeof real === 'string') this.#real.set(inExample, real)
  }

  within(value: unknown): unknown {
    if (typeof value === 'string') return this.#real.get(value) ?? value
    if (Array.isArray(value)) return value.map((item) => this.within(item))
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.within(item)]))
  }
}

/** What a tester arranges before an operation: it is no part of the service's API. */
async function prepare(id: string, service: TestService): Promise<void> {
  const domain = '/accounts/default/domains/example.com'
  if (id === 'listDmarc') {
    const [{ domain: _, ...record } = {}] = valueAt(unnamedOf(operationOf(id), 200), '/data') as Json[]
    expect((await askControl(service, 'PUT', `${domain}/dmarc`, record)).error).toBeUndefined()
  }
  if (id === 'deleteDomains') await askControl(service, 'PUT', `${domain}/features`, { features: ['mta-sts'] })
}

function send(service: TestService, operation: Operation, name: string, ids: Ids): Promise<TestResponse> {
  const query = parametersOf(operation).flatMap((parameter) => {
    const value = namedAt(parameter).get(name)
    return value === undefined ? [] : [`${parameter['name']}=${encodeURIComponent(String(ids.within(value)))}`]
  })
  const path = operation.path + (query.length > 0 ? `?${query.join('&')}` : '')
  return service.send(operation.method, path, bodiesOf(operation).get(name))
}

describe('the story of the examples', () => {
  it('happens to a new account, with each status and each body, ids aside', async () => {
    const service = await startService()
    const ids = new Ids()
    let played = 0
    for (const id of STORY) {
      const operation = operationOf(id)
      await prepare(id, service)
      const unnamed = unnamedOf(operation, operation.success.status)
      if (unnamed !== undefined) expect((await send(service, operation, '', ids)).body, id).toEqual(unnamed)
      for (const name of requestsOf(operation)) {
        const expected = responsesOf(operation).find((response) => response.name === name)
        const { status, body } = await send(service, operation, name, ids)
        if (id === 'createDomainGroup') ids.learn(expected?.body, body)
        expect({ status, body }, `${id} ${name}`).toEqual({
          status: expected?.status,
          body: ids.within(expected?.body),
        })
        played++
      }
      if (id !== 'createDomainGroup') continue
      const list = valueAt(resolved, '/components/schemas/DomainGroupList/example')
      expect((await service.get('/domaingroups')).body.data).toEqual(ids.within(list))
    }
    expect(played).toBeGreaterThan(15)
  })

  it.each<[status: number, id: string, request: (service: TestService, operation: Operation) => Promise<TestResponse>]>(
    [
      [401, 'listDomains', (service, { method, path }) => service.send(method, path, undefined, KEYLESS)],
      [
        403,
        'listDomains',
        async (service, { method, path }) => {
          await askControl(service, 'PATCH', '/accounts/default', { plan: 'below-stone' })
          return service.send(method, path)
        },
      ],
      [413, 'addDomains', (service, { method, path }) => service.send(method, path, ' '.repeat(1_048_577))],
      [
        429,
        'listDmarc',
        async (service, { method, path }) => {
          await askControl(service, 'PATCH', '/accounts/default/quotas', { bucket: 'dmarc', remaining: 0 })
          return service.send(method, path)
        },
      ],
      [400, 'deleteDomainGroup', (service, { method, path }) => service.send(method, path)],
    ],
  )('has a %d beside it, which is what %s answers', async (status, id, request) => {
    const service = await startService()
    const operation = operationOf(id)
    const response = await request(service, operation)
    expect(response.status).toBe(status)
    expect(response.body).toEqual(unnamedOf(operation, status))
  })
})
