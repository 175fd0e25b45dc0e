import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'

const ADD = { method: 'POST', body: '{"domains":["first.example"]}' }

describe.concurrent('a data folder of a process', () => {
  it('is made where it is missing, is refused to others meanwhile, and keeps what was answered from a kill', async ({
    serveProcess,
    folder,
  }) => {
    const data = join(folder, 'here', 'deep', 'er')
    mkdirSync(join(folder, 'here'))
    const options = ['--durability', 'rename', '--fixture', 'empty']
    const first = await serveProcess(['--data', 'deep/er', ...options], { folder: join(folder, 'here') })
    expect((await first.request('/domains', ADD)).status).toBe(200)
    const { code, stdout, stderr } = await runInProcess(['serve', '--port', '0', '--data', data])
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toMatch(
      new RegExp(
        `^dmarc-understudy: ${data} is in use by process \\d+ on ${hostname()}: stop it, choose another folder, or [^\\n]+\\n$`,
      ),
    )
    expect((await first.request('/domains')).status).toBe(200)
    first.stop('SIGKILL')
    await first.ended
    expect(existsSync(join(data, '.lock'))).toBe(true)
    const second = await serveProcess(['--data', data])
    expect((await second.request('/domains')).body).toMatchObject({ data: { domains: ['first.example'] } })
    second.stop('SIGTERM')
    expect(await second.ended).toMatchObject({ code: 0 })
    expect(readdirSync(data)).toEqual(['account-default.json'])
  })

  it('whose lock was removed by hand is not written by two processes, and none writes over what the other wrote', async ({
    serveProcess,
    serve,
    folder,
  }) => {
    const first = await serveProcess(['--data', folder, '--fixture', 'empty', '--log-level', 'silent'])
    rmSync(join(folder, '.lock'))
    const second = await serve(['--data', folder])
    expect((await first.request('/domains', ADD)).status).toBe(500)
    const other = { ...ADD, body: '{"domains":["second.example"]}' }
    expect((await second.request('/domains', other)).status).toBe(200)
    second.stop()
    expect(await second.ended).toMatchObject({ code: 0 })
    // Nobody has the lock now, but the first process does not know what the second has written.
    expect((await first.request('/domains', ADD)).status).toBe(500)
    first.stop('SIGINT')
    const { code, stderr } = await first.ended
    expect(code).toBe(3)
    expect(stderr).toMatch(/^dmarc-understudy: [^\n]*another program has changed [^\n]* restart to read it[^\n]*\n$/)
    const third = await serve(['--data', folder])
    expect((await third.request('/domains')).body).toMatchObject({ data: { domains: ['second.example'] } })
  })

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
})
