import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, onTestFinished } from 'vitest'
import { it } from '../support/program.ts'
import { PROGRAM, ROOT, runShell } from '../support/program-process.ts'
import { environmentWith, follow } from '../support/running-program.ts'
import { readLines } from './lines.ts'

const OPTIONS = ['--fixture', 'demo', '--seed', '42', '--now', '2026-01-15T09:00:00Z', '--frozen']
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

/** The official client with the program as a process. */
async function connect(args: readonly string[]) {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp', ...args],
    stderr: 'pipe',
  })
  onTestFinished(() => client.close())
  await client.connect(transport)
  // biome-ignore lint/suspicious/noExplicitAny: a test reaches into data whose shape the control plane has validated
  async function call(name: string, args: Record<string, unknown> = {}): Promise<any> {
    const { structuredContent, content, isError } = await client.callTool({ name, arguments: args })
    expect(isError, JSON.stringify(content)).not.toBe(true)
    return structuredContent
  }
  return { client, call }
}

/** The program as a process whose lines a test writes. */
function start(args: readonly string[] = []) {
  const child = spawn(process.execPath, [PROGRAM, 'mcp', ...args], { cwd: ROOT, env: environmentWith(), stdio: 'pipe' })
  const running = follow(child)
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = readLines(child.stdout)
  return {
    ...running,
    say: (message: unknown) =>
      void child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a message
    next: async (): Promise<any> => JSON.parse((await lines.next()).value ?? 'null'),
    end: () => void child.stdin.end(),
  }
}

describe('an assistant', () => {
  it('goes from an account over an explained refusal to the verdict', async () => {
    const { client, call } = await connect(OPTIONS)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['create_account', 'get_verdict']))

    const { base_url } = await call('get_address')
    const { account, api_key } = await call('create_account', { id: 'cart', fixture: 'empty' })
    expect(account).toMatchObject({ id: 'cart', domains: 0, frozen: true })
    const { fault } = await call('add_fault', { account: 'cart', respond: { error: 'rate_limited' }, times: 1 })

    const send = (domains: string[]) =>
      fetch(`${base_url}/domains`, {
        method: 'POST',
        headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ domains }),
      })
    const limited = await send(['shop.example'])
    expect(limited.status).toBe(429)
    const injected = await call('explain_request', { request_id: limited.headers.get('x-request-id') })
    expect(injected).toMatchObject({ code: 'rate_limited', fault: { id: fault.id } })

    const refused = await send(['not a host'])
    expect(refused.status).toBe(400)
    const request_id = refused.headers.get('x-request-id')
    const { correction } = await call('explain_request', { request_id, part: '/correction' }).then(({ value }) => ({
      correction: value,
    }))
    const { stdout } = await runShell(`API_KEY=${api_key}; ${[...correction.before, correction.curl].join(' && ')}`)
    expect(JSON.parse(stdout)).toMatchObject({ success: true })

    const verdict = await call('get_verdict')
    expect(verdict).toMatchObject({ passed: false, requests: 3, injected: 1, violations: { count: 1 } })
    expect(verdict.violations.first).toMatchObject([{ request_id, account: 'cart', code: 'invalid_domain' }])
    const { gaps, next } = await call('list_coverage_gaps', { account: 'cart', limit: 3 })
    expect(gaps).toMatchObject([{ kind: 'response', curl: [expect.stringContaining('curl ')] }, {}, {}])
    expect(next).toBe(3)

    const { resources } = await client.listResources()
    for (const { uri, name } of resources) {
      const [content] = (await client.readResource({ uri })).contents
      expect(content).toMatchObject({ text: readFileSync(join(ROOT, name), 'utf8') })
    }
  })

  it('uses a server that runs already, with its token, and is told when that server has ended', async ({
    serveProcess,
  }) => {
    const server = await serveProcess(['--admin-token', 'T', ...OPTIONS])
    const { client, call } = await connect(['--attach', `${server.origin}/__admin`, '--admin-token', 'T'])
    expect(await call('get_address')).toMatchObject({ base_url: server.baseUrl, api_key: server.apiKey })
    server.stop()
    await server.ended
    const { content, isError } = await client.callTool({ name: 'get_verdict', arguments: {} })
    expect(isError).toBe(true)
    expect(content).toMatchObject([{ text: expect.stringMatching(/^The stand-in does not answer at .*\.$/) }])
  })
})

describe('mcp', () => {
  it('answers each bad line, and writes nothing but the protocol to standard output', async () => {
    const { say, next, end, ended } = start(['--log-level', 'info'])
    say('hello')
    expect(await next()).toMatchObject({ error: { code: -32700 } })
    say({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    expect(await next()).toMatchObject({ id: 1, error: { code: -32600 } })
    say(INITIALIZE)
    const { result } = await next()
    expect(result.serverInfo.version).toBe(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version)
    say([INITIALIZE])
    expect(await next()).toMatchObject({ error: { message: expect.stringContaining('batch') } })
    say({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'get_address', arguments: {} } })
    const { structuredContent } = (await next()).result
    expect((await fetch(`${structuredContent.base_url}/domains`)).status).toBe(401)
    end()
    const { code, stdout, stderr } = await ended
    expect(code).toBe(0)
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).jsonrpc),
    ).toEqual(Array(5).fill('2.0'))
    expect(stderr).toContain('The line is no JSON')
    await expect(fetch(structuredContent.base_url)).rejects.toThrow()
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('ends with 0 at %s, stops the stand-in, and says nothing', async (signal) => {
    const { say, next, stop, ended } = start()
    say(INITIALIZE)
    await next()
    stop(signal)
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })

  it('writes a ready file while it runs', async ({ folder }) => {
    const file = join(folder, 'ready.json')
    const { say, next, end, ended } = start(['--ready-file', file])
    say(INITIALIZE)
    await next()
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty('base_url')
    end()
    expect((await ended).code).toBe(0)
    expect(existsSync(file)).toBe(false)
  })

  it('is the only command that loads the library of the protocol', () => {
    const read = (path: string) => readFileSync(join(ROOT, 'dist', path), 'utf8')
    const found = new Set<string>()
    /** The part and all parts that are loaded with it. */
    const visit = (path: string): void => {
      if (found.has(path)) return
      found.add(path)
      for (const [, other = ''] of read(path).matchAll(/(?:^|[;\n}])(?:import|export)[^;(]*?["']\.\/([^"']+)["']/g)) {
        visit(`parts/${other}`)
      }
    }
    for (const part of ['parts/serve.js', 'parts/server.js', 'parts/command-line.js']) visit(part)
    expect(found.size).toBeGreaterThan(2)
    const heavy = [...found].filter((path) => /modelcontextprotocol|JSONRPC/.test(read(path)))
    expect(heavy).toEqual([])
  })
})
