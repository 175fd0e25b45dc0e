import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { FaultRule } from '../../src/domain/faults.ts'
import { addFault, askControl } from '../support/control-plane.ts'
import { recordingLog } from '../support/recording-log.ts'
import { sendRequest } from '../support/request.ts'
import { startService, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const FILES = 30

/** A fixture that uses all of what a fixture can hold. */
const FIXTURE = {
  title: 'Everything',
  plan: 'stone',
  keys: [
    { label: 'ci', key: 'key_of_ci', created_at: 'P2D' },
    { label: 'old', disabled: true },
  ],
  domains: [
    'plain.example',
    { name: 'pinned.example', features: ['mta-sts'], record: { p: 'reject', dmarc: 50, dkim: 40, spf: 30, count: 7 } },
    { name: 'profiled.example', profile: 'parked', since: 'P30D', volume: 900, policy: { p: 'none' } },
  ],
  groups: [
    { name: 'Mail', domains: ['plain.example', 'pinned.example'] },
    { id: 'abcdefgh', name: 'Web', domains: [] },
  ],
}
const SECRET = 'key_of_the_template'

/** The file of an account that has everything that an account can have. */
async function writeTemplate(): Promise<string> {
  const data = temporaryFolder()
  const service = await startService({ data, store: undefined })
  await askControl(service, 'POST', '/accounts', { id: 'template', fixture: FIXTURE, api_key: SECRET, seed: 5 })
  const match = { operation: 'listDmarc', key: 'key_x' }
  await addFault(service, { respond: { error: 'rate_limited' }, skip: 3, times: 2 }, 'template')
  await addFault(service, { match, delay_ms: 1, expires_after: 'PT1H' } as FaultRule, 'template')
  for (const below of ['/domains', '/dmarc', '/domaingroups']) {
    await sendRequest('GET', service.baseUrl + below, undefined, { authorization: `Bearer ${SECRET}` })
  }
  await service.stop()
  return readFileSync(join(data, 'account-template.json'), 'utf8')
}
type Place = { parent: Record<string, unknown>; key: string }

/** Every value in a JSON document, by the object or array that holds it. */
function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const parent = value as Record<string, unknown>
  return Object.keys(parent).flatMap((key) => [{ parent, key }, ...placesIn(parent[key])])
}

const STRANGE: readonly unknown[] = [
  ...[null, true, -1, 0.5, 2 ** 53 - 1, 2 ** 53, 1e308, '', 'x', '__proto__', [], {}, ['x'], [[]]],
  ...[JSON.parse('{"__proto__":{"x":1}}'), 'x'.repeat(10_000), '\u0000', '\ud800', 8.64e15, 253402300799999],
]

/** One way to damage a document: the place by its number, and what happens there. */
const mutation = fc.record({
  place: fc.nat(),
  kind: fc.constantFrom('delete', 'duplicate', 'swap', 'add', 'replace'),
  value: fc.constantFrom(...STRANGE),
})

function mutate(document: unknown, { place, kind, value }: typeof mutation extends fc.Arbitrary<infer T> ? T : never) {
  const places = placesIn(document)
  const { parent, key } = places[place % places.length] as Place
  const keys = Object.keys(parent)
  const other = keys[(keys.indexOf(key) + 1) % keys.length] as string
  switch (kind) {
    case 'delete':
      if (Array.isArray(parent)) parent.splice(Number(key), 1)
      else delete parent[key]
      return
    case 'duplicate':
      if (Array.isArray(parent)) parent.push(parent[key])
      else parent[`${key}2`] = parent[key]
      return
    case 'swap':
      ;[parent[key], parent[other]] = [parent[other], parent[key]]
      return
    case 'add': {
      const own = { enumerable: true, configurable: true, writable: true }
      Object.defineProperty(parent, '__proto__', { ...own, value: { x: 1 } })
      return
    }
    case 'replace':
      parent[key] = value
  }
}

/** The template for another account, with keys of its own. */
function templateFor(template: string, index: number): { id: string; text: string } {
  const own = index.toString(16).padStart(8, '0')
  const text = template
    .replaceAll(/"hash":"[0-9a-f]{8}/g, `"hash":"${own}`)
    .replaceAll('"id":"template"', `"id":"m-${index}"`)
  return { id: `m-${index}`, text: text.replaceAll(/"(?=[0-9a-f]{64} \/)[0-9a-f]{8}/g, `"${own}`) }
}

/** Everything that anybody can ask of an account; resolves to what was answered with 500 or more. */
async function exercise(service: TestService, id: string): Promise<string[]> {
  const failed: string[] = []
  const path = `/accounts/${id}`
  async function ask(method: string, below: string, body?: unknown): Promise<unknown> {
    const { status, data, text } = await askControl(service, method, path + below, body)
    if (status >= 500) failed.push(`${method} ${below} → ${text}`)
    return data
  }
  async function send(method: string, below: string, body?: unknown): Promise<void> {
    const received = await sendRequest(method, service.baseUrl + below, body, { authorization: `Bearer ${secret}` })
    if (received.status >= 500) failed.push(`${method} ${below} → ${received.text}`)
  }
  const lists = ['/state', '/keys', '/clock', '/quotas', '/faults', '/domains', '/overview']
  for (const below of ['', ...lists]) await ask('GET', below)
  // Not every rule answers soon; each was described above.
  await ask('DELETE', '/faults')
  const created = (await ask('POST', '/keys', {})) as { api_key?: string } | undefined
  const secret = created?.api_key ?? ''
  await send('POST', '/domains', { domains: ['new.example', 'former.example'] })
  await send('POST', '/domaingroups', { name: 'New', domains: ['new.example'] })
  await send('PATCH', '/domaingroups?id=abcdefgh', { name: 'Newer', add_domains: ['plain.example'] })
  await send('DELETE', '/domains', { domains: ['plain.example'] })
  await ask('PATCH', '/clock', { advance: 'P2D' })
  for (const below of ['/dmarc', '/domains', '/domaingroups']) await send('GET', below)
  await ask('POST', '/reset', {})
  await send('GET', '/dmarc')
  return failed
}

it(`A file that was changed by hand in one of ${FILES} ways is refused in one line with the place, or is served`, async () => {
  const template = await writeTemplate()
  // The first ones that are drawn are extreme, and nearly all refused.
  const drawn = { numRuns: FILES + 80, seed: 12 }
  const changes = fc.sample(fc.array(mutation, { minLength: 1, maxLength: 2 }), drawn).slice(80)
  const log = recordingLog()
  const failed: unknown[] = []
  let served = 0
  for (const [index, mutations] of changes.entries()) {
    const data = temporaryFolder()
    const { id, text } = templateFor(template, index)
    const document = JSON.parse(text)
    for (const each of mutations) mutate(document, each)
    writeFileSync(join(data, `account-${id}.json`), JSON.stringify(document))
    const start = () => startService({ data, store: undefined, log, enforceQuotas: false })
    const service = await start().catch((error: unknown) => error as Error)
    if (service instanceof Error) {
      expect(service.message).toMatch(/^\S+\/account-m-\d+\.json: (?:[^\n]*\/[^\n]+|was written by a newer [^\n]+)$/)
      continue
    }
    served++
    failed.push(...(await exercise(service, id)).map((each) => [each, document]))
    await service.stop()
    // What was served was also written; it must be readable again.
    await (await start()).stop()
  }
  expect(failed).toEqual([])
  expect(log.errors).toEqual([])
  expect(served).toBeGreaterThan(FILES / 20)
  expect(FILES - served).toBeGreaterThan(FILES / 4)
})
