import { networkInterfaces } from 'node:os'
import { describe, expect } from 'vitest'
import { it } from '../support/program.ts'

describe('serve', () => {
  it('prints base URL, key and a curl line', async ({ serve }) => {
    const { baseUrl, apiKey, curl, stdout } = await serve()
    expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:[1-9][0-9]*\/api\/v1$/)
    expect(apiKey).toMatch(/^key_[0-9A-Za-z]{8}\.[0-9A-Za-z]{48}$/)
    expect(curl).toBe(`curl -H 'Authorization: Bearer ${apiKey}' ${baseUrl}/domains`)
    expect(stdout()).toContain(`curl -H 'Authorization: Bearer sandbox_mine' ${baseUrl}/domains`)
    const [, dashboard = ''] = /Dashboard {2}(\S+)\n/.exec(stdout()) ?? []
    expect(dashboard).toBe(baseUrl.replace('/api/v1', '/__admin/'))
    expect((await fetch(dashboard)).headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(stdout()).not.toMatch(/Open|Elsewhere|token/)
  })

  it('says in a line each what is different where other machines reach it', async ({ serve, folder }) => {
    const open = ['--host', '0.0.0.0', '--admin-token', 'T', '--data', folder, '--log-level', 'silent']
    const linesOf = (stdout: string) => [...stdout.matchAll(/^ {2}Open +(.+)$/gm)].map(([, line]) => line)
    const RANDOM = 'Other machines can reach this address, so keys are random and do not derive from the seed.'
    const first = await serve(open)
    expect(linesOf(first.stdout())).toEqual([
      RANDOM,
      'No key that begins with sandbox_ opens an account; --sandbox-keys lets it.',
    ])
    expect(first.stdout()).not.toContain('sandbox_mine')
    expect(first.stdout()).toContain(`API key    ${first.apiKey}`)
    expect(first.stdout()).toContain('/__admin/   (it asks for the token of --admin-token)\n')
    expect(first.stdout(), 'a token is a secret').not.toMatch(/\bT\b/)
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
    const others = own.filter(({ internal, family }) => !internal && family === 'IPv4')
    const { port } = new URL(first.baseUrl)
    const named = [...first.stdout().matchAll(/^ {2}Elsewhere {2}(\S+)$/gm)].map(([, url]) => url)
    expect(named).toEqual(others.map(({ address }) => `http://${address}:${port}/api/v1`))
    first.stop()
    await first.ended
    const second = await serve([...open, '--sandbox-keys'])
    expect(linesOf(second.stdout())).toEqual([
      RANDOM,
      'Every client that can reach it can open accounts, with keys that begin with sandbox_ (--sandbox-keys).',
    ])
    expect(second.stdout()).toContain('API key    the one that was shown at the first start; only its hash is kept')
  })

  it('warns of keys that anybody can compute, of a folder from a loopback address', async ({ serve, folder }) => {
    const local = await serve(['--data', folder])
    local.stop()
    await local.ended
    const open = await serve(['--data', folder, '--host', '0.0.0.0', '--admin-token', 'T', '--log-level', 'silent'])
    expect(open.stdout()).toContain(
      'Open       Any program can compute a key of the account default, because it derives from the seed. Replace it.',
    )
  })
})
