import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { controlApi, openControlPlane, startControlPlane } from '../support/control-plane.ts'
import { type Assistant, attach } from './assistant.ts'

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

describe('the tools', () => {
  /** What the dashboard or a program needs, and an assistant does not. */
  const NO_TOOLS = [
    ...['getDashboard', 'getHealth', 'getReadiness', 'getDocument', 'listScenes', 'getOverview'],
    ...['getGroupOverview', 'streamEvents', 'streamAllEvents'],
    // list_coverage_gaps reads them in pages.
    ...['getCoverage', 'getOverallCoverage'],
  ]

  it('are the operations of the control plane, and three more', async () => {
    const { tools } = await assistant.ask('tools/list')
    const offered = controlApi.operations.filter(({ id }) => !NO_TOOLS.includes(id))
    const names = offered.map(({ id }) => id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    expect(tools.map(({ name }: { name: string }) => name).toSorted()).toEqual(
      [...names, 'get_address', 'list_coverage_gaps', 'list_assumptions'].toSorted(),
    )
    // An assistant can have all of them at hand.
    expect(JSON.stringify(tools).length).toBeLessThan(50_000)
    const named = Object.fromEntries(tools.map((tool: { name: string }) => [tool.name, tool]))
    expect(named['restore_snapshot']).toMatchObject({
      title: 'Restore a snapshot',
      description: 'Restore a snapshot.\nThe account becomes what it was, with its clock. Journal and coverage stay.',
    })
    expect(named['update_clock'].description).toContain('Refused otherwise: to says by itself where the clock moves')
    expect(named['list_requests'].inputSchema.properties).toMatchObject({
      ...{ status: { type: 'integer' }, violation: { type: 'boolean' }, search: { type: 'string' } },
    })
    // What each value means is said, too.
    expect(named['add_fault'].inputSchema.properties.connection.description).toContain(
      'are lost with it. `reset`: The connection is reset (TCP RST) without a response. `hang`: The connection',
    )
    expect(named['list_assumptions'].description).toMatch(/ overlays of the server .* are not known\.$/)
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

  it.each([
    ['createAccount', 'Did you mean create_account?'],
    ['get_adress', 'Did you mean get_address?'],
    ['send_mail', 'tools/list lists the tools.'],
  ])('have no %s, and the assistant reads which is meant', async (name, remedy) => {
    await expect(assistant.call(name)).rejects.toThrow(`There is no tool ${name}. ${remedy}`)
  })

  it.each<[tool: string, args: Record<string, unknown>, text: string]>([
    ['get_account', {}, '/account is missing. It is: Id of the account; `default` always exists.'],
    ['get_account', { acount: 'default' }, '/acount is no argument; did you mean /account?'],
    ['list_fault_sets', { frozen: true }, '/frozen is no argument; there are part, max_characters'],
    ['clear_verdict', { all: true }, '/all is no argument; the tool takes no argument'],
    // A name is no other path of the control plane.
    ['get_account', { account: '..' }, 'There is no account "..".'],
    ['delete_account', { account: '../requests' }, 'There is no account "../requests".'],
    ['explain_request', { request_id: 'x' }, 'There is no request "x".'],
    ['list_requests', { account: 'default', limit: 0 }, '`limit` must be a whole number, 1 or more, not "0".'],
    ['add_fault', { account: 'default', respond: { error: 'rate_limted' } }, 'Did you mean rate_limited?'],
    [
      'create_account',
      { seed: -1, plan: 7 },
      '/plan: `plan` must be of type string, not number.\n- /seed: `seed` must',
    ],
    ['get_clock', { account: 'default', max_characters: 7 }, '/max_characters must be a whole number from 1000 to 200'],
    ['get_clock', { account: 'default', part: '/x' }, 'must be a JSON pointer into the answer. The answer has /now, '],
    ['list_coverage_gaps', { kind: 'rules' }, '/kind must be one of response, rule, edge, not "rules".'],
    ['list_coverage_gaps', { operation: 'addDomain' }, 'not "addDomain". Did you mean addDomains?'],
    ['list_assumptions', { id: 'body-limits' }, 'not "body-limits"; did you mean body-limit?'],
  ])('%s that is called with %j says what would be right', async (tool, args, text) => {
    const answer = await assistant.call(tool, args)
    expect(answer).toMatchObject({ isError: true, data: undefined, text: expect.stringContaining(text) })
    expect(answer.text).not.toMatch(/\n +at /)
  })
})

describe('an assistant', () => {
  it('gets the address of an account', async () => {
    const { adminUrl, understudy, key } = plane
    const { data, text } = await assistant.call('get_address')
    const { baseUrl } = understudy
    expect(data).toEqual({
      ...{ account: 'default', base_url: baseUrl, api_key: key, admin_url: adminUrl, dashboard: `${adminUrl}/` },
      curl: `curl -H 'Authorization: Bearer ${key}' ${baseUrl}/domains`,
    })
    expect(text.split('\n')).toContain(`base_url: ${baseUrl}`)
    await assistant.call('create_account', { id: 'cart', api_key: 'secret-1' })
    const { data: secret } = await assistant.call('get_address', { account: 'cart' })
    const curl = `curl -H "Authorization: Bearer $API_KEY" ${baseUrl}/domains`
    expect(secret).toMatchObject({ account: 'cart', api_key: null, curl })
  })

  it('reads why a request was refused, with its correction, and the rest of the explanation in parts', async () => {
    await assistant.call('create_account', { id: 'sandbox_a' })
    const refused = await plane.ask('sandbox_a', 'POST', '/domains', { domains: ['a b'] })
    const request_id = refused.headers['x-request-id']
    const { text, data } = await assistant.call('explain_request', { request_id })
    expect(data).toMatchObject({ code: 'invalid_domain', correction: { changes: expect.any(Array) } })
    expect(text).toContain(`curl: curl -sS -X POST -H 'Authorization: Bearer sandbox_a'`)
    expect(text).toMatch(/Left out: \/reproduction; .*\. Ask again with part: \/reproduction\.$/)
    const test = await assistant.call('explain_request', { request_id, part: '/reproduction/vitest' })
    expect(test.text).toMatch(/^import \{ createTest \} from 'dmarc-understudy\/vitest'\n/)
    const list = await assistant.call('list_requests', { account: 'sandbox_a', refused: true, limit: 5 })
    expect(list.data.requests).toMatchObject([{ request_id, request: { body: '{"domains":["a b"]}' } }])
    expect(list.text).not.toContain('user-agent')
  })

  it('reads what is not covered yet, and what the contract leaves open, page by page', async () => {
    const asked = { account: 'default', kind: 'response', operation: 'listDomains', limit: 1 }
    const { data } = await assistant.call('list_coverage_gaps', asked)
    expect(data).toMatchObject({
      summary: { responses: { seen: 0 } },
      gaps: [{ kind: 'response', operation: 'listDomains', status: 200, curl: [expect.stringMatching(/^curl /)] }],
      next: 1,
    })
    const { data: next } = await assistant.call('list_coverage_gaps', { ...asked, after: 1 })
    expect(next.gaps).toMatchObject([{ operation: 'listDomains', status: 401 }])
    const { data: open } = await assistant.call('list_assumptions', { limit: 2 })
    expect(open).toMatchObject({ assumptions: [{ id: expect.any(String) }, { id: expect.any(String) }], next: 2 })
    const { data: one } = await assistant.call('list_assumptions', { id: 'body-limit' })
    expect(one).toMatchObject({ id: 'body-limit', choice: { value: 1_048_576 }, observable: true })
  })

  it('reads the guide, the contract and the pages', async () => {
    const { resources } = await assistant.ask('resources/list')
    const names = resources.map(({ name }: { name: string }) => name)
    expect(names[0]).toBe('docs/assistants-guide.md')
    expect(names).toEqual(expect.arrayContaining(['openapi.yaml', 'src/admin/openapi.yaml', 'docs/testing.md']))
    for (const { uri, name, title, mimeType } of resources) {
      expect([uri, title]).toEqual([`dmarc-understudy:///${name}`, expect.stringMatching(/^[A-Z]/)])
      const { contents } = await assistant.ask('resources/read', { uri })
      expect(contents).toEqual([{ uri, mimeType, text: expect.stringMatching(/\S/) }])
    }
    for (const [name, message] of [
      [
        'openapi.yml',
        'There is no resource dmarc-understudy:///openapi.yml. Did you mean dmarc-understudy:///openapi.y',
      ],
      ['../package.json', 'resources/list lists the resources.'],
    ] as const) {
      await expect(assistant.ask('resources/read', { uri: `dmarc-understudy:///${name}` })).rejects.toThrow(message)
    }
  })
})

describe('what is attached', () => {
  it.each(['/__admin', '/__admin/', '', '/'])('is found by the address of the server and %j', async (path) => {
    const attached = await attach(new URL(plane.adminUrl).origin + path)
    expect((await attached.call('get_address')).data).toMatchObject({ admin_url: plane.adminUrl })
  })

  it('is asked with its token', async () => {
    const { adminUrl } = await startControlPlane({ adminToken: 'T' })
    for (const token of [undefined, 'S']) {
      await expect(attach(adminUrl, token)).rejects.toThrow(
        'The control plane requires its token: Authorization: Bearer <token>. Give it with --admin-token.',
      )
    }
    expect((await (await attach(adminUrl, 'T')).call('list_accounts')).data).toMatchObject({ count: 1 })
  })

  it('is a control plane, and nothing else', async () => {
    const silent = /^The stand-in does not answer at http:\S+ \(ECONNREFUSED\): it has stopped, or /
    await expect(attach('http://127.0.0.1:9/__admin')).rejects.toThrow(silent)
    const other = /^Something other than the control plane .*--attach needs /
    await expect(attach(plane.understudy.baseUrl)).rejects.toThrow(other)
  })

  it('may die during the session, and be started again', async () => {
    const first = await startControlPlane()
    const attached = await attach(first.adminUrl)
    await first.stop()
    const { text, isError } = await attached.call('list_accounts')
    expect(text).toMatch(/^The stand-in does not answer at \S+ \(ECONN\w+\): it has stopped, or .*; start it again, or/)
    expect(isError).toBe(true)
    await startControlPlane({ port: Number(new URL(first.adminUrl).port) })
    expect((await attached.call('list_accounts')).data).toMatchObject({ count: 1 })
  })
})
