import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runProcess } from '../support/program-process.ts'

describe('a data folder', () => {
  it('keeps domains, groups, key and the clock over a restart', async ({ serve, folder }) => {
    const accounts = join(folder, 'accounts')
    const args = ['--data', accounts, '--fixture', 'empty', '--now', '2026-01-15T09:30:00Z']
    const first = await serve(args)
    await first.request('/domains', { method: 'POST', body: '{"domains":["a.example","B.example"]}' })
    await first.request('/domaingroups', { method: 'POST', body: '{"name":"Shop","domains":["a.example"]}' })
    const before = await first.request('/domaingroups')
    first.stop()
    expect(await first.ended).toMatchObject({ code: 0 })

    const second = await serve(['--data', accounts])
    expect(second.apiKey).toBe(first.apiKey)
    expect((await second.request('/domaingroups')).body).toEqual(before.body)
    const { body, headers } = await second.request('/domains')
    expect(body).toEqual({ success: true, data: { domains: ['a.example', 'b.example'] } })
    expect(headers.get('x-ratelimit-remaining')).toBe('28')
    expect(headers.get('x-ratelimit-reset')).toBe(`${Date.parse('2026-01-15T10:00:00Z') / 1000}`)
  })

  it.for<[args: string[], notes: string[]]>([
    [[], []],
    [
      ['--seed', '3', '--frozen'],
      ['--seed 3', '--frozen true'],
    ],
    [
      ['--fixture', 'empty', '--now', '2026-01-15T09:00:00Z', '--plan', 'stone'],
      ['--fixture empty', '--now 2026-01-15T09:00:00Z', '--plan stone'],
    ],
  ])('says that the account in it heeds none of %j', async ([args, notes], { serve, folder }) => {
    const first = await serve(['--data', folder])
    first.stop()
    await first.ended
    const second = await serve(['--data', folder, '--log-level', 'silent', ...args])
    second.stop()
    const { stderr } = await second.ended
    const lines = notes.map((note) => `${note}: applies to new accounts only; the account in ${folder} stays as it is`)
    expect(stderr.split('\n').filter(Boolean).toSorted()).toEqual(lines.toSorted())
  })

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

  it('with --skip-damaged does not start without the account that everybody has', async ({ folder }) => {
    const path = join(folder, 'account-default.json')
    writeFileSync(path, '')
    const message = `The account "default" is damaged: ${path}: is empty`
    await expectRefusal(['serve', '--port', '0', '--data', folder, '--skip-damaged'], 3, message)
  })

  it.for<[path: string, message: string]>([
    ['/proc/x', '/proc/x cannot be written to (ENOENT)'],
    ['/proc', '/proc cannot be written to (ENOENT)'],
    ['/dev/null', '/dev/null is not a folder'],
    ['/dev/null/x', '/dev/null/x is not a folder'],
    ['/etc/passwd', '/etc/passwd is not a folder'],
  ])('cannot be %s', async ([path, message]) => {
    await expectRefusal(['serve', '--port', '0', '--data', path], 3, message)
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

  it('does not hold the key itself', async ({ serve, folder }) => {
    const service = await serve(['--data', folder])
    service.stop()
    await service.ended
    const kept = readFileSync(join(folder, 'account-default.json'), 'utf8')
    expect(kept).not.toContain(service.apiKey.split('.')[1])
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

/** Each case takes two processes, so the quick run has the first one. */
function some<Case>(cases: readonly Case[]): Case[] {
  return cases.slice(0, budget({ quick: 1, full: cases.length }))
}

describe.concurrent('a data folder of a process', () => {
  it('is refused to a second process with exit code 3 and one line', async ({ serveProcess, folder }) => {
    const service = await serveProcess(['--data', folder])
    const user = new RegExp(
      `^dmarc-understudy: ${folder} is in use by process \\d+ on ${hostname()}: stop it, choose another folder, or [^\\n]+\\n$`,
    )
    const { code, stdout, stderr } = await runProcess(['serve', '--port', '0', '--data', folder])
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toMatch(user)
    expect((await service.request('/domains')).status).toBe(200)
    service.stop()
    await service.ended
    expect(existsSync(join(folder, '.lock'))).toBe(false)
  })

  it('whose lock was removed by hand is not written by two processes, and none writes over what the other wrote', async ({
    serveProcess,
    folder,
  }) => {
    const add = { method: 'POST', body: '{"domains":["first.example"]}' }
    const first = await serveProcess(['--data', folder, '--fixture', 'empty', '--log-level', 'silent'])
    rmSync(join(folder, '.lock'))
    const second = await serveProcess(['--data', folder])
    expect((await first.request('/domains', add)).status).toBe(500)
    const other = { ...add, body: '{"domains":["second.example"]}' }
    expect((await second.request('/domains', other)).status).toBe(200)
    second.stop()
    expect(await second.ended).toMatchObject({ code: 0 })
    // Nobody has the lock now, but the first process does not know what the second has written.
    expect((await first.request('/domains', add)).status).toBe(500)
    first.stop()
    const { code, stderr } = await first.ended
    expect(code).toBe(3)
    expect(stderr).toMatch(/^dmarc-understudy: [^\n]*somebody has changed [^\n]* restart to read it[^\n]*\n$/)
    const third = await serveProcess(['--data', folder])
    expect((await third.request('/domains')).body).toMatchObject({ data: { domains: ['second.example'] } })
  })

  it.for(some(['SIGTERM', 'SIGINT'] as const))(
    'is free again after %s, and after SIGKILL when it is asked for',
    async (signal, { serveProcess, folder }) => {
      const first = await serveProcess(['--data', folder])
      first.stop('SIGKILL')
      await first.ended
      expect(existsSync(join(folder, '.lock'))).toBe(true)
      const second = await serveProcess(['--data', folder])
      second.stop(signal)
      expect(await second.ended).toMatchObject({ code: 0 })
      expect(readdirSync(folder)).toEqual(['account-default.json'])
    },
  )

  it.for(some(['rename', 'fsync']))(
    'with --durability %s keeps what was answered from a kill',
    async (durability, { serveProcess, folder }) => {
      const first = await serveProcess(['--data', folder, '--durability', durability, '--fixture', 'empty'])
      expect((await first.request('/domains', { method: 'POST', body: '{"domains":["a.example"]}' })).status).toBe(200)
      first.stop('SIGKILL')
      await first.ended
      const second = await serveProcess(['--data', folder])
      expect((await second.request('/domains')).body).toMatchObject({ data: { domains: ['a.example'] } })
    },
  )

  it('says what is lost when a second signal ends the program while it stops', async ({ serveProcess, folder }) => {
    const service = await serveProcess(['--data', folder, '--log-level', 'silent'])
    // A request that is not complete keeps the stop waiting for a moment.
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1').on('error', () => {})
    const path = `${new URL(service.baseUrl).pathname}/domains`
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${service.apiKey}\r\nContent-Type: application/json`
    socket.write(`${head}\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n`)
    await once(socket, 'data')
    service.stop('SIGTERM')
    while (
      await fetch(service.baseUrl).then(
        () => true,
        () => false,
      )
    )
      await setImmediate()
    service.stop('SIGTERM')
    const { code, stderr } = await service.ended
    expect(code).toBe(null)
    expect(stderr).toMatch(/^dmarc-understudy: ended before everything was saved: [^\n]+\n$/)
    socket.destroy()
  })

  it('is made where it is missing, relative to where the program runs', async ({ serveProcess, folder }) => {
    mkdirSync(join(folder, 'here'))
    await serveProcess(['--data', 'deep/er'], { folder: join(folder, 'here') })
    expect(existsSync(join(folder, 'here', 'deep', 'er', 'account-default.json'))).toBe(true)
  })
})
