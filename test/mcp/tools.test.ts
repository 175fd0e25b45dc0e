import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nextTurn } from '../../src/ground/timers.ts'
import type { Tool } from '../../src/mcp/tools.ts'
import { controlApi, openControlPlane, startControlPlane } from '../support/control-plane.ts'
import { type Assistant, attach, openSessionWith } from './assistant.ts'

/** The stand-in and the assistant of the tests that leave the account `default` as it is. */
let plane: Awaited<ReturnType<typeof openControlPlane>>
let assistant: Assistant
const cleanups: (() => unknown)[] = []
beforeAll(async () => {
  plane = await openControlPlane({ seed: 42 })
  assistant = await attach(plane.adminUrl, undefined, (end) => cleanups.push(end))
})
afterAll(async () => {
  for (const end of [...cleanups, plane.stop]) await end()
})

function toolThat(call: Tool['call']): Tool {
  const inputSchema = { type: 'object', properties: {}, required: [] } as const
  const annotations = { readOnlyHint: true, openWorldHint: false } as const
  return { name: 'try', title: 'Try', description: 'Tries.', inputSchema, annotations, call }
}

describe('the tools', () => {
  /** What the page or a program needs, and an assistant does not. */
  const NO_TOOLS = [
    ...['getDashboard', 'getHealth', 'getReadiness', 'getDocument', 'listScenes', 'getOverview', 'getGroupOverview'],
    ...['streamEvents', 'streamAllEvents', 'getCoverage', 'getOverallCoverage'],
  ]

  it('are the operations of the control plane, and three more', async () => {
    const { tools } = await assistant.ask('tools/list')
    const offered = controlApi.operations.filter(({ id }) => !NO_TOOLS.includes(id))
    const names = offered.map(({ id }) => id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    const all = [...names, 'get_address', 'list_coverage_gaps', 'list_assumptions']
    expect(tools.map(({ name }: { name: string }) => name).toSorted()).toEqual(all.toSorted())
    // An assistant can have all of them at hand.
    expect(JSON.stringify(tools).length).toBeLessThan(50_000)
    const named = Object.fromEntries(tools.map((tool: { name: string }) => [tool.name, tool]))
    expect(named['restore_snapshot']).toMatchObject({
      title: 'Restore a snapshot',
      description: 'Restore a snapshot. The account becomes what it was, with its clock. Journal and coverage stay.',
    })
    // What each value means is said, too.
    expect(named['add_fault'].inputSchema.properties.connection.description).toContain('`hang`: The connection')
    expect(named['list_assumptions'].description).toMatch(/ Overlays of the attached server are not known\.$/)
    for (const [name, hints] of Object.entries({
      create_account: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      verify_requests: { readOnlyHint: true },
      reset_account: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
      delete_fault: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    })) {
      expect(named[name].annotations).toEqual({ ...hints, openWorldHint: false })
    }
  })

  it('take arguments whose schema every client understands', async () => {
    const ajv = new Ajv2020({ strictTypes: false, allowUnionTypes: true, validateFormats: false })
    for (const { name, inputSchema } of (await assistant.ask('tools/list')).tools) {
      expect(ajv.validateSchema(inputSchema), name).toBe(true)
      for (const key of ['anyOf', 'oneOf', 'allOf', 'not']) expect(inputSchema, name).not.toHaveProperty(key)
      expect(JSON.stringify(inputSchema), name).not.toMatch(/"(\$ref|x-[\w-]+)":/)
      for (const argument of Object.keys(inputSchema.properties)) expect(argument).toMatch(/^[a-z_]{1,64}$/)
    }
  })

  it.each<[tool: string, args: Record<string, unknown>, text: string]>([
    ['get_account', {}, 'account is missing. It is: Id of the account; `default` always exists.'],
    ['get_account', { account: 'default', acount: 1 }, '"acount" is no argument; did you mean account?'],
    // A name is no other path of the control plane.
    ['delete_account', { account: '..' }, 'There is no account "..".'],
    ['delete_account', { account: '../requests' }, 'There is no account "../requests".'],
    ['explain_request', { request_id: 'x' }, 'There is no request "x".'],
    ['list_requests', { account: 'default', limit: 0 }, '`limit` must be a whole number, 1 or more, not "0".'],
    ['list_requests', { account: ['default'] }, '`account` must be a text, which ["default"] is not.'],
    ['add_fault', { account: 'default', respond: { error: 'rate_limted' } }, 'Did you mean rate_limited?'],
    ['create_account', { sed: 7 }, '"sed" is no argument; did you mean seed?'],
    ['create_account', { seed: -1, plan: 7 }, '- /seed: `seed` must'],
    ['get_clock', { account: 'default', part: '/x' }, 'must be a JSON pointer into the answer, which has /now, '],
    ['list_coverage_gaps', { kind: 'rules' }, '"kind" is no argument; there are account, operation, part'],
    ['list_assumptions', { id: 'body-limits' }, 'not "body-limits"; did you mean body-limit?'],
  ])('%s that is called with %j says what would be right', async (tool, args, text) => {
    const answer = await assistant.call(tool, args)
    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining(text) })
    expect(answer.text).not.toMatch(/\n +at /)
  })

  it('that fail by a mistake of ours say so without a stack, which goes to the log', async () => {
    const logged: unknown[] = []
    const log = { info() {}, warn() {}, error: (fields: object, message: string) => void logged.push(fields, message) }
    const error = new Error('boom')
    const broken = toolThat(() => Promise.reject(error))
    expect(await (await openSessionWith([broken], log)).call('try')).toMatchObject({
      text: 'The tool try failed, which is a mistake of dmarc-understudy; its log on standard error has the reason.',
      isError: true,
    })
    expect(logged).toEqual([{ err: error }, 'The tool try failed.'])
  })
})

describe('an assistant', () => {
  it('gets the address of an account', async () => {
    const { adminUrl, understudy, key } = plane
    const { baseUrl } = understudy
    expect((await assistant.call('get_address')).data).toEqual({
      ...{ account: 'default', base_url: baseUrl, api_key: key, admin_url: adminUrl, dashboard: `${adminUrl}/` },
      curl: `curl -H 'Authorization: Bearer ${key}' ${baseUrl}/domains`,
    })
    await assistant.call('create_account', { id: 'cart', api_key: 'secret-1' })
    const { data: secret } = await assistant.call('get_address', { account: 'cart' })
    const curl = `curl -H "Authorization: Bearer $API_KEY" ${baseUrl}/domains`
    expect(secret).toMatchObject({ account: 'cart', api_key: null, curl })
  })

  it('reads single parts of an explanation, and the requests that were refused', async () => {
    await assistant.call('create_account', { id: 'sandbox_a' })
    const refused = await plane.ask('sandbox_a', 'POST', '/domains', { domains: ['a b'] })
    const request_id = refused.headers['x-request-id']
    const { text } = await assistant.call('explain_request', { request_id, part: '/correction/curl' })
    expect(text).toMatch(/^curl -sS -X POST -H 'Authorization: Bearer sandbox_a'/)
    const list = await assistant.call('list_requests', { account: 'sandbox_a', refused: true, limit: 5 })
    expect(list.data.requests).toMatchObject([{ request_id, request: { body: '{"domains":["a b"]}' } }])
  })

  it('reads what is not covered yet, and what the contract leaves open', async () => {
    const { data } = await assistant.call('list_coverage_gaps', { account: 'default', operation: 'listDomains' })
    const curl = [expect.stringMatching(/^curl /)]
    expect(data).toMatchObject({
      summary: { responses: { seen: 0 } },
      gaps: expect.arrayContaining([expect.objectContaining({ kind: 'response', status: 200, curl })]),
    })
    const { data: all } = await assistant.call('list_assumptions')
    expect(JSON.stringify(all)).toContain('body-limit')
    const { data: one } = await assistant.call('list_assumptions', { id: 'body-limit' })
    expect(one).toMatchObject({ id: 'body-limit', choice: { value: 1_048_576 }, observable: true })
  })

  it('reads the guide, the contract and the pages', async () => {
    const { resources } = await assistant.ask('resources/list')
    const names = resources.map(({ name }: { name: string }) => name)
    expect(names[0]).toBe('docs/assistants-guide.md')
    expect(names).toEqual(expect.arrayContaining(['openapi.yaml', 'src/admin/openapi.yaml', 'docs/testing.md']))
    for (const { uri, name, mimeType } of resources) {
      expect(uri).toBe(`dmarc-understudy:///${name}`)
      const { contents } = await assistant.ask('resources/read', { uri })
      expect(contents).toEqual([{ uri, mimeType, text: expect.stringMatching(/\S/) }])
    }
    await expect(assistant.ask('resources/read', { uri: 'dmarc-understudy:///../package.json' })).rejects.toThrow()
  })
})

it('A request that is open when the input ends is answered', async () => {
  const call = async () => {
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    return 'done'
  }
  const session = await openSessionWith([toolThat(call)])
  const answer = session.call('try')
  session.end()
  expect(await answer).toMatchObject({ text: 'done', isError: false })
})

describe('what is attached', () => {
  it.each(['/__admin', '/__admin/', '', '/'])('is found by the address of the server and %j', async (path) => {
    const attached = await attach(new URL(plane.adminUrl).origin + path)
    expect((await attached.call('get_address')).data).toMatchObject({ admin_url: plane.adminUrl })
  })

  it('is asked with its token', async () => {
    const { adminUrl } = await startControlPlane({ adminToken: 'T' })
    for (const token of [undefined, 'S']) {
      await expect(attach(adminUrl, token)).rejects.toThrow('Give it with --admin-token.')
    }
    expect((await (await attach(adminUrl, 'T')).call('list_accounts')).data).toMatchObject({ count: 1 })
  })

  it('is a control plane, and nothing else', async () => {
    await expect(attach(plane.understudy.baseUrl)).rejects.toThrow(/^Something other than the control plane/)
  })

  it('may die during the session, and be started again', async () => {
    const first = await startControlPlane()
    const attached = await attach(first.adminUrl)
    await first.stop()
    const { text, isError } = await attached.call('list_accounts')
    expect(text).toMatch(/^The server does not answer at \S+ \(ECONN\w+\): it has stopped, or .* start it again/)
    expect(isError).toBe(true)
    await startControlPlane({ port: Number(new URL(first.adminUrl).port) })
    expect((await attached.call('list_accounts')).data).toMatchObject({ count: 1 })
  })
})
