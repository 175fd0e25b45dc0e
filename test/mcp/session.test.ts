import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Log } from '../../src/http/log.ts'
import { ControlError } from '../../src/library/control-error.ts'
import { type AssistantTool, READS } from '../../src/mcp/tool.ts'
import { withKey } from '../support/account.ts'
import { sendRequest } from '../support/request.ts'
import { Assistant, openAssistant } from './assistant.ts'

/** The stand-in and the assistant of the tests that change nothing. */
let shared: ReturnType<typeof openAssistant>
const cleanups: (() => unknown)[] = []
beforeAll(() => {
  shared = openAssistant({}, (cleanup) => cleanups.push(cleanup))
})
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

describe('an assistant', () => {
  it('is told at the beginning how to use the stand-in', async () => {
    const { assistant } = await shared
    const told = assistant.client.getInstructions() ?? ''
    expect(told).toMatch(/^The stand-in behaves as the real service does/)
    expect(told).not.toContain('#')
    expect(told.length).toBeLessThan(2_000)
    expect(assistant.client.getServerVersion()).toMatchObject({ name: 'dmarc-understudy', version: '1.2.3' })
  })

  it('knows the tools by their names, and is asked which it means by another one', async () => {
    const { assistant, tools } = await shared
    const { tools: listed } = await assistant.client.listTools()
    expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
    for (const [name, remedy] of [
      ['createAccount', 'Did you mean create_account?'],
      ['get_adress', 'Did you mean get_address?'],
      ['send_mail', 'tools/list lists the tools.'],
    ] as const) {
      await expect(assistant.call(name)).rejects.toThrow(`There is no tool ${name}. ${remedy}`)
    }
  })

  it('gets the address and the key of an account', async () => {
    const { assistant, service } = await openAssistant()
    const { baseUrl, adminUrl, apiKey } = service
    const first = await assistant.call('get_address')
    expect(first.data).toEqual({
      ...{ account: 'default', base_url: baseUrl, api_key: apiKey, admin_url: adminUrl, dashboard: `${adminUrl}/` },
      curl: `curl -H 'Authorization: Bearer ${apiKey}' ${baseUrl}/domains`,
    })
    expect(first.text.split('\n')).toContain(`base_url: ${baseUrl}`)
    await assistant.call('create_account', { id: 'cart', api_key: 'secret-1' })
    const { data } = await assistant.call('get_address', { account: 'cart' })
    expect(data).toMatchObject({
      account: 'cart',
      api_key: null,
      curl: `curl -H "Authorization: Bearer $API_KEY" ${baseUrl}/domains`,
    })
  })

  it.each<[tool: string, args: Record<string, unknown>, text: string]>([
    ['get_account', {}, '/account is missing. It is: Id of the account; `default` always exists.'],
    ['get_account', { acount: 'default' }, '/acount is no argument; did you mean /account?'],
    ['list_fault_sets', { frozen: true }, '/frozen is no argument; there are part, max_characters'],
    ['clear_verdict', { all: true }, '/all is no argument; the tool takes no argument'],
    ['get_account', { account: ['default'] }, '/account must be a text, a number or a boolean, not ["default"].'],
    ['get_account', { account: 'defaul' }, 'There is no account "defaul".'],
    ['explain_request', { request_id: 'x' }, 'There is no request "x".'],
    ['list_requests', { account: 'default', limit: 0 }, '`limit` must be a whole number, 1 or more, not "0".'],
    [
      'add_fault',
      { account: 'default', respond: { error: 'rate_limted' } },
      '`respond.error` must be one of …, not "rate_limted". Did you mean rate_limited?',
    ],
    ['add_fault', { account: 'default', delay_ms: 'x' }, '`delay_ms` must be of type integer, not string.'],
    [
      'create_account',
      { seed: -1, plan: 7 },
      '/plan: `plan` must be of type string, not number.\n- /seed: `seed` must be at least 0, not -1.',
    ],
    [
      'get_clock',
      { account: 'default', max_characters: 7 },
      '/max_characters must be a whole number from 1000 to 200000, not 7.',
    ],
    ['get_clock', { account: 'default', part: 7 }, '/part must be a JSON pointer as text, not 7.'],
    ['list_coverage_gaps', { limit: 1e9 }, '/limit must be a whole number from 1 to 200, not 1000000000.'],
    ['list_coverage_gaps', { kind: 'rules' }, '/kind must be one of response, rule, edge, not "rules".'],
    [
      'list_coverage_gaps',
      { operation: 'addDomain' },
      '/operation must be one of …, not "addDomain". Did you mean addDomains?',
    ],
    [
      'list_assumptions',
      { id: 'body-limits' },
      '/id must be the id of an assumption, not "body-limits"; did you mean body-limit?',
    ],
  ])('that calls %s with %j reads what would be right', async (tool, args, text) => {
    const answer = await (await shared).assistant.call(tool, args)
    const [begin = '', end = ''] = text.split('…')
    expect(answer).toMatchObject({ isError: true, data: undefined })
    expect(answer.text).toContain(begin)
    expect(answer.text.endsWith(end), answer.text).toBe(true)
    expect(answer.text).not.toMatch(/\n +at /)
  })

  it('reads a correction of a refused request, and the rest of the explanation in parts', async () => {
    const { assistant, service } = await openAssistant()
    const refused = await sendRequest(
      'POST',
      `${service.baseUrl}/domains`,
      '{"domains":["a b"]}',
      withKey(service.apiKey ?? ''),
    )
    const request_id = refused.headers['x-request-id']
    const { text, data } = await assistant.call('explain_request', { request_id })
    expect(data).toMatchObject({ code: 'invalid_domain', correction: { changes: expect.any(Array) } })
    expect(text).toContain(`curl: curl -sS -X POST -H 'Authorization: Bearer ${service.apiKey}'`)
    expect(text).toMatch(/Left out: \/reproduction; .*\. Ask again with part: \/reproduction\.$/)
    const test = await assistant.call('explain_request', { request_id, part: '/reproduction/vitest' })
    expect(test.text).toMatch(/^import \{ createTest \} from 'dmarc-understudy\/vitest'\n/)
    const list = await assistant.call('list_requests', { account: 'default', refused: true, limit: 5 })
    expect(list.data.requests).toMatchObject([{ request_id, request: { body: '{"domains":["a b"]}' } }])
    expect(list.text).not.toContain('user-agent')
  })

  it('reads the gaps of coverage, each of which a command closes', async () => {
    const { assistant } = await shared
    const asked = { account: 'default', kind: 'response', operation: 'listDomains', limit: 1 }
    const { data } = await assistant.call('list_coverage_gaps', asked)
    expect(data).toMatchObject({
      summary: { responses: { seen: 0 } },
      gaps: [{ kind: 'response', operation: 'listDomains', status: 200, curl: [expect.stringMatching(/^curl /)] }],
      next: 1,
    })
    const { data: next } = await assistant.call('list_coverage_gaps', { ...asked, after: 1 })
    expect(next.gaps).toMatchObject([{ operation: 'listDomains', status: 401 }])
    const { data: all } = await assistant.call('list_coverage_gaps', { max_characters: 200_000, limit: 200 })
    expect(all.gaps.length).toBe(all.count)
    expect(all.summary.responses.total + all.summary.rules.total + all.summary.edges.total).toBe(all.count)
  })

  it('reads what the contract leaves open, with the overlays of the server', async () => {
    const { assistant } = await shared
    const { data } = await assistant.call('list_assumptions', { limit: 2 })
    expect(data).toMatchObject({ assumptions: [{ id: 'body-limit' }, { id: 'plan-names' }], next: 2 })
    const { data: whole } = await assistant.call('list_assumptions', { id: 'body-limit' })
    expect(whole).toMatchObject({ id: 'body-limit', choice: { value: 1_048_576 }, observable: true })
  })

  it('reads the guide, the contract and the pages', async () => {
    const { client } = (await shared).assistant
    const { resources } = await client.listResources()
    expect(resources[0]).toMatchObject({ name: 'docs/assistants-guide.md', mimeType: 'text/markdown' })
    const names = ['openapi.yaml', 'src/admin/openapi.yaml', 'docs/testing.md', 'fixtures/fixture.schema.json']
    expect(resources.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
    for (const { uri, name, title, mimeType } of resources) {
      expect(title).toMatch(/^[A-Z]/)
      expect(uri).toBe(`dmarc-understudy:///${name}`)
      const [content] = (await client.readResource({ uri })).contents
      expect(content).toMatchObject({ uri, mimeType, text: expect.stringMatching(/\S/) })
    }
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual([])
    await expect(client.readResource({ uri: 'dmarc-understudy:///openapi.yml' })).rejects.toThrow(
      'There is no resource dmarc-understudy:///openapi.yml. Did you mean dmarc-understudy:///openapi.yaml?',
    )
    await expect(client.readResource({ uri: 'dmarc-understudy:///../package.json' })).rejects.toThrow(
      'resources/list lists the resources.',
    )
  })
})

describe('a tool', () => {
  const failing = (error: Error): AssistantTool => ({
    ...{ name: 'fail', title: 'Fail', description: 'Fails.', annotations: READS },
    inputSchema: { type: 'object', properties: {} },
    call: () => Promise.reject(error),
  })

  it('that fails by a mistake of ours says so without a stack, which goes to the log', async () => {
    const logged: unknown[] = []
    const log: Log = { info() {}, warn() {}, error: (fields, message) => void logged.push(fields, message) }
    const error = new Error('boom')
    const { text, isError } = await (await Assistant.with([failing(error)], log)).call('fail')
    expect({ text, isError }).toEqual({
      text: 'The tool fail failed, which is a mistake of dmarc-understudy; its log on standard error has the reason.',
      isError: true,
    })
    expect(logged).toEqual([{ err: error }, 'The tool fail failed.'])
  })

  it('that is refused for many reasons says the first of them at a bounded length', async () => {
    const problems = Array.from({ length: 500 }, (_, index) => {
      return { code: 'invalid_value' as const, field: `/a/${index}`, message: `Problem ${index}.` }
    })
    const assistant = await Assistant.with([failing(new ControlError('invalid_value', 'Problem 0.', problems))])
    const { text } = await assistant.call('fail')
    expect(text).toMatch(/^\/a\/0: Problem 0\.\n- \/a\/1: Problem 1\.\n/)
    expect(text).toHaveLength(4_000)
  })
})
