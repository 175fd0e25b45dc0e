import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { compileApi } from '../../src/contract/api-compiler.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { loadControlApi } from '../../src/contract/control-api.ts'
import { createCompiler, nameOf, UUID } from '../../src/contract/schema-compiler.ts'
import type { Json } from '../../src/ground/json.ts'
import { ROOT, runShell } from '../support/program-process.ts'

const isPlain = (text: string) => /^[a-z.]+$/.test(text)
const FORMATS = { uuid: UUID, hostname: isPlain, 'idn-hostname': isPlain, 'date-time': isPlain, duration: isPlain }

type Written = Readonly<Record<string, (formats: object) => ValidateFunction>>

/** Values that break each kind of keyword somewhere. */
const VALUES: readonly unknown[] = [
  ...[undefined, null, 7, 'a', [], {}, { id: '' }, { id: 'x'.repeat(300) }],
  ...[{ domains: 'a' }, { domains: [] }, { domains: ['a.b', 'a.b', 'A b', 7] }, { domains: Array(51).fill('a.b') }],
  ...[{ name: '' }, { name: 'x'.repeat(101), more: 1 }, { domains: [], add_domains: [] }, { name: null }],
  ...[
    { success: true, data: { domains: ['A b'], count: -1, message: 1 } },
    { success: true, data: [{ p: 'x' }] },
  ],
  ...[
    { success: false, error: { code: 'x' } },
    { match: { operation: 1 }, respond: { status: 1 }, times: 0 },
  ],
  ...[{ advance: 'x', now: 'A' }, { fixture: { domains: [{ record: { dmarc: 101 } }] } }, { keys: [1], seed: -1 }],
]

it.each([
  ['the service, with its responses', loadContract, 'dist/validators.cjs', true],
  ['the control plane', loadControlApi, 'dist/admin/validators.cjs', false],
])('The validators that the build has written of %s find what those of ajv find', async (_, load, path, answers) => {
  const { document } = await load()
  const written: Written = createRequire(import.meta.url)(join(ROOT, path))
  const ofAjv = createCompiler(FORMATS)
  let errors = 0
  function compile(schema: Json) {
    const validate = written[nameOf(schema)]?.(FORMATS)
    return (value: unknown) => {
      const expected = ofAjv(schema)(value)
      expect(validate?.(value)).toBe(expected.length === 0)
      expect(validate?.errors ?? []).toEqual(expected)
      errors += expected.length
      return expected
    }
  }
  for (const { checkQuery, checkBody, rules, responses } of compileApi(document, { compile }).operations) {
    const checks = [checkBody, ...(answers ? [...responses.values()].map(({ check }) => check) : [])]
    for (const value of VALUES) {
      checkQuery(value as Json)
      for (const check of checks) check(value)
      for (const { matches } of rules) matches(value as object)
    }
  }
  expect(errors).toBeGreaterThan(500)
})

/** A first minute: each operation of the service, and some of the control plane. */
const MINUTE = `
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { startUnderstudy } from 'dmarc-understudy'
const service = await startUnderstudy({ listen: false, fixture: 'demo' })
const account = await service.createAccount({ fixture: 'empty' })
await account.faults.add({ match: { operation: 'addDomains' }, respond: { error: 'rate_limited' }, times: 1 })
const statuses = []
for (const [method, path, body] of [
  ['GET', '/dmarc'], ['POST', '/domains', { domains: ['a.example'] }], ['POST', '/domains', { domains: ['a.example'] }],
  ['GET', '/domains'], ['POST', '/domaingroups', { name: 'A' }], ['GET', '/domaingroups'], ['PATCH', '/domaingroups', {}],
  ['DELETE', '/domaingroups'], ['DELETE', '/domains', { domains: ['a.example'] }], ['GET', '/nothing'],
]) {
  const init = { method, headers: { ...account.headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
  statuses.push((await service.fetch(new Request(service.baseUrl + path, init))).status)
}
const loaded = Object.keys(createRequire(import.meta.url).cache)
console.log(statuses.join(' '), loaded.filter((path) => /node_modules.(ajv.dist.(?!runtime)|pino|express|js-yaml|json-p3)/.test(path)))
`

it('Whoever takes the documents as they are loads neither ajv nor another library for what is not asked', async () => {
  const { stdout, stderr } = await runShell(`node --input-type=module --eval '${MINUTE.replaceAll("'", `'\\''`)}'`)
  expect({ stdout, stderr }).toEqual({ stdout: '200 429 200 200 200 200 400 400 200 404 []\n', stderr: '' })
})
