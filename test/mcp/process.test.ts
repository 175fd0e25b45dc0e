import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { PROGRAM, ROOT } from '../support/program-process.ts'
import { environmentWith, follow } from '../support/running-program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Assistant } from './assistant.ts'

/** The program as a process, and an assistant that writes and reads its lines. */
function start(...args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, 'mcp', ...args], { cwd: ROOT, env: environmentWith(), stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { ...follow(child), assistant: new Assistant(child.stdin, child.stdout) }
}

it('goes from an account over an explained refusal to the verdict, and ends when its input ends', async () => {
  const file = join(temporaryFolder(), 'ready.json')
  const { assistant, ended } = start('--fixture', 'demo', '--log-level', 'info', '--ready-file', file)
  const { serverInfo } = await assistant.begin()
  expect(serverInfo.version).toBe(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version)
  const { base_url } = (await assistant.call('get_address')).data
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ base_url })

  const { account, api_key } = (await assistant.call('create_account', { id: 'cart', fixture: 'empty' })).data
  expect(account).toMatchObject({ id: 'cart', domains: 0 })
  const { fault } = (
    await assistant.call('add_fault', { account: 'cart', respond: { error: 'rate_limited' }, times: 1 })
  ).data
  const send = async () => {
    const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ domains: ['not a host'] })
    const response = await fetch(`${base_url}/domains`, { method: 'POST', headers, body })
    const request_id = response.headers.get('x-request-id')
    return {
      status: response.status,
      request_id,
      explained: (await assistant.call('explain_request', { request_id })).data,
    }
  }
  expect(await send()).toMatchObject({ status: 429, explained: { code: 'rate_limited', fault: { id: fault.id } } })
  const { request_id, explained } = await send()
  expect(explained).toMatchObject({ code: 'invalid_domain', correction: { curl: expect.stringMatching(/^curl /) } })
  const { data: verdict } = await assistant.call('get_verdict')
  expect(verdict).toMatchObject({ passed: false, requests: 2, injected: 1, violations: { count: 1 } })
  expect(verdict.violations.first).toMatchObject([{ request_id, account: 'cart', code: 'invalid_domain' }])

  assistant.end()
  const { code, stdout } = await ended
  expect([code, existsSync(file)]).toEqual([0, false])
  // Nothing but the protocol is on standard output.
  for (const line of stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
  await expect(fetch(base_url)).rejects.toThrow()
})

it('ends with 0 at SIGTERM, and says nothing', async () => {
  const { assistant, stop, ended } = start()
  await assistant.begin()
  stop('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
})
