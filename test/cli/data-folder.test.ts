import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { it } from '../support/program.ts'

describe('a data folder', () => {
  it.for<[args: string[], notes: string[]]>([
    [[], []],
    [
      ['--seed', '3', '--frozen', '--fixture', 'empty', '--now', '2026-01-15T09:00:00Z', '--plan', 'stone'],
      ['--seed 3', '--frozen true', '--fixture empty', '--now 2026-01-15T09:00:00Z', '--plan stone'],
    ],
  ])(
    'keeps its account with its key over a restart, and says that it heeds none of %j',
    async ([args, notes], { serve, folder }) => {
      const first = await serve(['--data', folder])
      first.stop()
      await first.ended
      const second = await serve(['--data', folder, '--log-level', 'silent', ...args])
      expect(second.apiKey).toBe(first.apiKey)
      second.stop()
      const { stderr } = await second.ended
      const lines = notes.map(
        (note) => `${note}: applies to new accounts only; the account in ${folder} stays as it is`,
      )
      expect(stderr.split('\n').filter(Boolean).toSorted()).toEqual(lines.toSorted())
    },
  )

  it('with --skip-damaged starts without a damaged account, and says which and why in one line', async ({
    serve,
    folder,
  }) => {
    const path = join(folder, 'account-broken.json')
    writeFileSync(path, '{"format":')
    const service = await serve(['--data', folder, '--skip-damaged', '--log-level', 'error'])
    expect((await service.request('/domains')).status).toBe(200)
    service.stop()
    const { stderr } = await service.ended
    expect(stderr).toBe(`--skip-damaged true: leaves out ${path}: is not JSON; it was cut off or changed by hand\n`)
    expect(readFileSync(path, 'utf8')).toBe('{"format":')
  })

  it('that is gone at the stop makes the program end with exit code 3 and one line', async ({ serve, folder }) => {
    const accounts = join(folder, 'accounts')
    const service = await serve(['--data', accounts, '--log-level', 'silent'])
    // Something to keep at the stop: the request is counted.
    expect((await service.request('/domains')).status).toBe(200)
    rmSync(accounts, { recursive: true })
    service.stop()
    const { code, stderr } = await service.ended
    expect(stderr).toMatch(/^dmarc-understudy: .*account-default\.json cannot be written \(ENOENT: [^\n]+\n$/)
    expect(code).toBe(3)
  })

  it('that knows of another key by its hash alone is served without telling it', async ({ serve, folder }) => {
    const first = await serve(['--data', folder, '--api-key', 'key_of_my_own'])
    first.stop()
    await first.ended
    const second = await serve(['--data', folder])
    expect(second.apiKey).toBe('the one that the account was made with; only its hash is kept')
    expect(second.curl).toContain('Bearer YOUR_KEY')
    expect((await second.request('/domains', { headers: { authorization: 'Bearer key_of_my_own' } })).status).toBe(200)
  })
})
