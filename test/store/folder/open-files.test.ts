import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { PROGRAM } from '../../support/program-process.ts'
import { startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const KEY = 'key_of_the_test'

it('writes changes however many clients connect, because connections leave room for files', async () => {
  const folder = temporaryFolder()
  const serve = `ulimit -n 64 && exec "$0" "$1" serve --port 0 --data "$2" --fixture empty --api-key ${KEY} --log-level warn`
  const child = spawn('sh', ['-c', serve, process.execPath, PROGRAM, folder], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [greeting, log] = ['', '']
  child.stderr.on('data', (chunk) => {
    log += chunk
  })
  for await (const chunk of child.stdout) {
    greeting += chunk
    if (greeting.includes('Try it')) break
  }
  const url = new URL(`${/Base URL {3}(\S+)/.exec(greeting)?.[1]}/domains`)
  // What is connected stays so; for others there may be no descriptor left.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())

  async function send(method: string, domain?: string): Promise<{ status: number | undefined; body: string }> {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const sent = request(url, { method, agent, headers })
    sent.end(domain === undefined ? undefined : JSON.stringify({ domains: [domain] }))
    const [response] = await once(sent, 'response')
    let body = ''
    for await (const chunk of response) body += chunk
    return { status: response.statusCode, body }
  }

  expect(await send('POST', 'before.example')).toMatchObject({ status: 200 })
  const crowd: Socket[] = []
  const turnedAway = new Promise<void>((resolve) => {
    for (let client = 0; client < 100; client++) {
      const socket = connect(Number(url.port), url.hostname)
      socket.on('error', () => resolve())
      socket.on('close', () => resolve())
      crowd.push(socket)
    }
  })
  onTestFinished(() => crowd.forEach((socket) => void socket.destroy()))
  await turnedAway
  const added = ['one.example', 'two.example', 'three.example']
  for (const domain of added) expect(await send('POST', domain)).toMatchObject({ status: 200 })
  for (const socket of crowd) socket.destroy()
  child.kill('SIGKILL')
  await once(child, 'close')
  const said = log.trimEnd().split('\n')
  expect(said.join('\n')).toContain('There are as many connections as there may be; others are refused.')

  const again = await startService({ data: folder, store: undefined, apiKey: KEY })
  const { body } = await again.send('GET', '/domains', undefined, { authorization: `Bearer ${KEY}` })
  expect(body.data.domains).toEqual(['before.example', ...added])
})
