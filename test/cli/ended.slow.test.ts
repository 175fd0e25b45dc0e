import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { listenOn } from '../support/listening.ts'
import { eventually, sleeper, sleeping } from '../support/processes.ts'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { API_KEY, startService } from '../support/service.ts'
import { ask, listens, startRaw } from './proxied.ts'

const KEY = { DMARC_UNDERSTUDY_API_KEY: API_KEY }

function residentBytes(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', `${pid}`], { encoding: 'utf8' })) * 1024
}

describe('The program proxy', () => {
  it('judges in a thread of its own, and passes a stream on that is longer than its memory', async ({
    folder,
    startProcess,
  }) => {
    const size = budget({ quick: 64, full: 1_024 }) << 20
    const block = Buffer.alloc(1 << 20, ' ')
    const target = await startRaw((socket) => {
      let left = size
      const send = () => {
        while (left > 0) {
          left -= block.length
          if (!socket.write(block)) return
        }
      }
      socket.on('drain', send)
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`)
        send()
      })
    })
    const file = join(folder, 'ready.json')
    const options = ['--target', target, '--port', '0', '--fail-on-violation', '--ready-file', file]
    const running = startProcess(['proxy', ...options])
    const baseUrl = await listens(running)
    const { pid } = JSON.parse(readFileSync(file, 'utf8'))
    expect(await (await fetch(new URL('/__admin/', baseUrl))).text()).toMatch(/^<!doctype html>/i)
    const before = residentBytes(pid)
    let received = 0
    let highest = 0
    for await (const chunk of (await ask(`${baseUrl}/domains`)).body ?? []) {
      if (received >> 25 !== (received + chunk.length) >> 25) highest = Math.max(highest, residentBytes(pid))
      received += chunk.length
    }
    expect(received).toBe(size)
    expect(highest - before).toBeLessThan(150 << 20)
    running.stop('SIGINT')
    const { code, stderr } = await running.ended
    expect(stderr).toContain('The body is longer than 16 MiB.')
    expect(code).toBe(1)
  })
})

describe('The program explore', () => {
  it('ends with everything that it has started when it is told to stop, and says what it has found', async ({
    folder,
    startProcess,
  }) => {
    const sleep = sleeper()
    const script = join(folder, 'client.sh')
    const read = 'curl -fs -m 3 -H "Authorization: Bearer $UNDERSTUDY_API_KEY" "$UNDERSTUDY_BASE_URL/domains"'
    // Without faults it ends at once.
    writeFileSync(script, `${read} >/dev/null || ${sleep}\n`)
    const running = startProcess(['explore', '--fixture', 'empty', '--', 'sh', script])
    await eventually('the command meets a fault', () => sleeping(sleep).length > 0)
    running.stop('SIGINT')
    const { code, stderr } = await running.ended
    expect(code).toBe(130)
    expect(stderr).toContain('Stopped before the end. ')
    expect(sleeping(sleep)).toEqual([])
  })
})

describe('The program verify', () => {
  it('names what it leaves, and how to remove it, if a second signal ends its cleanup', async ({
    folder,
    startProcess,
  }) => {
    const service = await startService({ fixture: 'demo', enforceQuotas: false })
    let isStopped = false
    let isRemoving = false
    const server = createHttpServer(async (request, response) => {
      isRemoving ||= isStopped && request.method === 'DELETE'
      // Nothing answers a removal of the cleanup.
      if (isRemoving) return
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { method = '' } = request
      const { authorization = '' } = request.headers
      const hasBody = method !== 'GET' && method !== 'HEAD' && chunks.length > 0
      const headers = { authorization, 'content-type': request.headers['content-type'] ?? '' }
      const url = new URL(request.url ?? '', service.baseUrl)
      const answer = await fetch(url, { method, headers, ...(hasBody && { body: Buffer.concat(chunks) }) })
      response.writeHead(answer.status, [...answer.headers].flat()).end(Buffer.from(await answer.arrayBuffer()))
    })
    const target = `http://127.0.0.1:${await listenOn(server)}/api/v1`
    const running = startProcess(['verify', '--base-url', target], { environment: KEY, folder })
    const { groups } = await service.store.read('default')
    while ((await service.store.read('default')).groups.size < groups.size + 1) await setImmediate()
    isStopped = true
    running.stop('SIGINT')
    await eventually('the cleanup removes something', () => isRemoving)
    running.stop('SIGTERM')
    const { stderr } = await running.ended
    const left = /ended at once; still there: (.*?)(?:, and what .*?)?; to clean up: (.*)\n$/.exec(stderr)
    const [, items = '', command] = left ?? []
    const now = await service.store.read('default')
    const own = [...now.domains.keys()].filter((name) => name.startsWith('verify-'))
    const made = [...now.groups.keys()].filter((id) => !groups.has(id))
    expect(items.split(', ').toSorted()).toEqual([...own, ...made.map((id) => `group ${id}`)].toSorted())
    expect(command).toMatch(/^dmarc-understudy verify --sweep understudy-verify-\w{8}\.json --base-url /)
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('that was killed is undone by a sweep', async ({ folder, startProcess }) => {
    const service = await startService({ fixture: 'demo', enforceQuotas: false })
    const inventory = async () => [(await service.get('/domains')).text, (await service.get('/domaingroups')).text]
    const before = await inventory()
    const killed = startProcess(['verify', '--base-url', service.baseUrl], { environment: KEY, folder })
    const { groups } = await service.store.read('default')
    while ((await service.store.read('default')).groups.size < groups.size + 1) {
      await setImmediate()
    }
    killed.stop('SIGKILL')
    await killed.ended
    const [ledger = ''] = readdirSync(folder)
    expect(statSync(join(folder, ledger)).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(folder, ledger), 'utf8')).not.toContain(API_KEY)
    expect(await inventory()).not.toEqual(before)
    const { code, stderr } = await runInProcess(
      ['verify', '--base-url', service.baseUrl, '--sweep', join(folder, ledger)],
      { environment: KEY },
    )
    expect(stderr).toMatch(/removed \d+ domains and \d+ groups of the run \w{8}; the account is as before\.\n$/)
    expect(code).toBe(0)
    expect(await inventory()).toEqual(before)
    expect(readdirSync(folder)).toEqual([])
  })
})
