import type { Operation } from '../../src/contract/api.ts'
import type { Contract } from '../../src/contract/contract.ts'
import { isObject, type Json, valueAt } from '../../src/ground/json.ts'
import { askControl } from './control-plane.ts'
import { objectAt } from './own-document.ts'
import type { TestResponse, TestService } from './service.ts'

/** The operations in the order of the story that the examples of openapi.yaml tell. */
export const STORY = [
  ...['addDomains', 'listDomains', 'listDmarc', 'createDomainGroup', 'listDomainGroups', 'updateDomainGroup'],
  ...['deleteDomains', 'deleteDomainGroup'],
]

const MEDIA = '/content/application~1json'

/** A response of the story: the one that the examples have, with real ids, and the one that came. */
export interface Scene {
  operation: Operation
  /** The name of the example; empty for one without a name. */
  name: string
  expected: { status: number; body: unknown }
  received: TestResponse
}

/** The examples of one operation. */
export class Examples {
  readonly operation: Operation
  readonly parameters: readonly Json[]
  readonly #described: Json

  constructor(operation: Operation, { document }: Contract) {
    const { path, method } = operation
    this.operation = operation
    this.#described = objectAt(document.resolved, `/paths/~1${path.slice(1)}/${method.toLowerCase()}`)
    this.parameters = (this.#described['parameters'] ?? []) as Json[]
  }

  /** The bodies of requests, by name. */
  get bodies(): Map<string, unknown> {
    return namedAt(this.#described['requestBody'], MEDIA)
  }

  /** The names of the requests, in the order of the document. */
  get requests(): string[] {
    return [...new Set([...this.bodies.keys(), ...this.parameters.flatMap((each) => [...namedAt(each).keys()])])]
  }

  /** The responses that have a name. */
  get responses(): { name: string; status: number; body: unknown }[] {
    return [...this.operation.responses.keys()].flatMap((status) =>
      [...namedAt(this.#described, `/responses/${status}${MEDIA}`)].map(([name, body]) => ({ name, status, body })),
    )
  }

  /** The response without a name. */
  unnamed(status: number): unknown {
    return valueAt(this.#described, `/responses/${status}${MEDIA}/example`)
  }
}

/** The named examples at a JSON pointer. */
export function namedAt(holder: unknown, pointer = ''): Map<string, unknown> {
  const examples = (valueAt(holder, `${pointer}/examples`) ?? {}) as Record<string, { value: unknown }>
  return new Map(Object.entries(examples).map(([name, { value }]) => [name, value]))
}

export function examplesOf(id: string, contract: Contract): Examples {
  const operation = contract.operations.find((each) => each.id === id)
  if (operation === undefined) throw new Error(`There is no operation ${id}.`)
  return new Examples(operation, contract)
}

/** Sends the requests of the examples in the order of the story. The account of the service must be new. */
export async function* playStory(service: TestService): AsyncGenerator<Scene> {
  const { contract } = service
  const ids = new Ids()
  for (const id of STORY) {
    const examples = examplesOf(id, contract)
    const { operation } = examples
    await prepare(id, service)
    const { status } = operation.success
    const listed = id === 'listDomainGroups' ? groupList(contract) : examples.unnamed(status)
    if (listed !== undefined) {
      const received = await send(service, examples, '', ids)
      yield { operation, name: '', expected: { status, body: ids.within(listed) }, received }
    }
    for (const name of examples.requests) {
      const expected = examples.responses.find((response) => response.name === name)
      if (expected === undefined) throw new Error(`${id} has no response with the name ${name}.`)
      const received = await send(service, examples, name, ids)
      if (id === 'createDomainGroup') ids.learn(expected.body, received.body)
      yield { operation, name, expected: { status: expected.status, body: ids.within(expected.body) }, received }
    }
  }
}

/** The example of all groups is at their schema, because a request without a parameter has no name. */
function groupList({ document }: Contract): Json {
  return { success: true, data: objectAt(document.resolved, '/components/schemas/DomainGroupList/example') }
}

/** What a tester arranges before an operation: it is no part of the service's API. */
async function prepare(id: string, service: TestService): Promise<void> {
  const domain = '/accounts/default/domains/example.com'
  if (id === 'listDmarc') {
    const [{ domain: _, ...record } = {}] = valueAt(examplesOf(id, service.contract).unnamed(200), '/data') as Json[]
    await askControl(service, 'PUT', `${domain}/dmarc`, record)
  }
  if (id === 'deleteDomains') await askControl(service, 'PUT', `${domain}/features`, { features: ['mta-sts'] })
}

function send(service: TestService, examples: Examples, name: string, ids: Ids): Promise<TestResponse> {
  const { method, path } = examples.operation
  const query = examples.parameters.flatMap((parameter) => {
    const value = namedAt(parameter).get(name)
    return value === undefined ? [] : [`${parameter['name']}=${encodeURIComponent(String(ids.within(value)))}`]
  })
  return service.send(method, path + (query.length > 0 ? `?${query.join('&')}` : ''), examples.bodies.get(name))
}

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
