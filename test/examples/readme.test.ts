import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { HAS_CURL } from '../support/curl.ts'
import { it, ROOT, runShell } from '../support/program.ts'

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const plane = readFileSync(join(ROOT, 'docs/control-plane.md'), 'utf8')

/** The curl commands of the README's shell blocks, each in one line, without comment and what reads their output. */
const commands = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)]
  .flatMap(([, block = '']) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
  .filter((line) => line.startsWith('curl '))
  .map((line) => line.replace(/\s+(\||#) .*$/, ''))

/** What the commands are there to show, where it is not success: part of the command → code of the error. */
const REFUSED: Readonly<Record<string, string>> = {
  'Prefer: code=rate_limited': 'rate_limited',
  'fail-invalid-domain': 'invalid_domain',
  '"domains": ["fjordlight.example"]': 'domain_delete_failed',
}

describe('the README', () => {
  it.skipIf(!HAS_CURL)('has commands that work one after the other, as they stand', async ({ serve }) => {
    expect(commands.length).toBeGreaterThan(20)
    const { baseUrl, apiKey, origin } = await serve(['--no-quotas'])
    expect(readme).toContain(`KEY=${apiKey}\n`)
    let requestId = ''
    for (const command of commands.filter((each) => !each.startsWith('curl -N'))) {
      const environment = { KEY: apiKey, API: baseUrl, ADMIN: `${origin}/__admin`, REQUEST_ID: requestId }
      const { stdout } = await runShell(command.replace('curl ', 'curl -s '), { environment })
      const answer = JSON.parse(stdout) as { success: boolean; error?: { code: string } }
      const code = Object.entries(REFUSED).find(([part]) => command.includes(part))?.[1]
      expect({ command, code: answer.error?.code }).toEqual({ command, code })
      const requests = await fetch(`${origin}/__admin/requests?limit=1`)
      const listed = (await requests.json()) as { data: { requests: { request_id: string }[] } }
      requestId = listed.data.requests[0]?.request_id ?? ''
    }
  })

  it.skipIf(!HAS_CURL)('streams events as it says', async ({ serve }) => {
    const command = commands.find((each) => each.startsWith('curl -N'))
    const { apiKey, baseUrl, origin, request } = await serve()
    const environment = { KEY: apiKey, API: baseUrl, ADMIN: `${origin}/__admin` }
    const shown = runShell(`${command?.replace('curl ', 'curl -s ')} | grep -m 1 '^event: '`, { environment })
    let done = false
    void shown.then(() => {
      done = true
    })
    while (!done) await request('/domains')
    expect((await shown).stdout).toBe('event: request\n')
  })

  it('names every route of the control plane in its list', async ({ serve }) => {
    const { origin } = await serve()
    const { paths } = (await (await fetch(`${origin}/__admin/openapi.json`)).json()) as {
      paths: Record<string, object>
    }
    const methods = ['get', 'post', 'put', 'patch', 'delete']
    const routes = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => methods.includes(method))
        .map((method) => `${method.toUpperCase()} ${path}`),
    )
    const rows = plane.split('\n').filter((line) => line.startsWith('| `'))
    const listed = [...rows.join('\n').matchAll(/`(GET|POST|PUT|PATCH|DELETE) ([^`]+)`/g)].map(
      ([, method, path]) => `${method} ${path?.replace('…', '/accounts/{account}')}`,
    )
    expect(listed.toSorted()).toEqual(routes.toSorted())
  })

  it('names every option of serve', async () => {
    const { stdout } = await runShell(`'${process.execPath}' dist/cli.js serve --help`)
    const options = [...stdout.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option]) => option)
    const [, row = ''] = /\| `serve` \|.*`(--[^`]+)` \|/.exec(readme) ?? []
    expect(row.split(' ')).toEqual(options)
  })
})
