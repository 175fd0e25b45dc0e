import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { expectHar } from '../../support/har-schema.ts'
import { listenOn } from '../../support/listening.ts'
import { it } from '../../support/program.ts'
import { PROGRAM, spawnCommand } from '../../support/program-process.ts'
import type { RunningProgram } from '../../support/running-program.ts'

/** A proxy that records, and a service behind it, whose answers are small, and some of many pages. */
async function record(path: string, blocks = 'unlimited') {
  let count = 0
  const service = createServer((_, response) => {
    response.end(`${++count} `.repeat(count % 7 === 0 ? 40_000 : count % 50))
  })
  const target = `http://127.0.0.1:${await listenOn(service)}`
  const command = `ulimit -f ${blocks}; exec "${process.execPath}" "${PROGRAM}" "$@"`
  const args = ['proxy', '--target', target, '--port', '0', '--record', path]
  const running: RunningProgram = spawnCommand(['sh', '-c', command, 'proxy', ...args])
  onTestFinished(() => running.stop('SIGKILL'))
  const [, baseUrl = ''] = await running.prints(/Base URL {3}(\S+)/)
  return { running, get: (number: number) => fetch(`${baseUrl}/${number}`).then((response) => response.text()) }
}

describe('The recording of a proxy', () => {
  it('is whole when the program is killed, and misses at most the last exchange', async ({ folder }) => {
    const path = join(folder, 'a.har')
    const { running, get } = await record(path)
    let answered = 0
    for (; answered < 10; answered++) await get(answered)
    await expect.poll(() => expectHar(readFileSync(path, 'utf8')).length).toBe(answered)
    const last = get(answered)
    running.stop('SIGKILL')
    await Promise.allSettled([last, running.ended])
    const urls = expectHar(readFileSync(path, 'utf8')).map(({ request }) => (request as { url: string }).url)
    expect(urls.map((url) => url.replace(/.*\//, ''))).toEqual(urls.map((_, index) => `${index}`))
    expect([answered, answered + 1]).toContain(urls.length)
  })

  it('stops when the disk is full, is whole, and says so, while the traffic goes on', async ({ folder }) => {
    const path = join(folder, 'a.har')
    // In blocks of 512 bytes, or of 1024 in some shells.
    const { running, get } = await record(path, '400')
    let answered = 0
    for (; answered < 30; answered++) await get(answered)
    running.stop()
    const { stdout, stderr } = await running.ended
    expect(stdout + stderr).toContain('because its file cannot be written any more (EFBIG)')
    expect(expectHar(readFileSync(path, 'utf8')).length).toBeGreaterThan(0)
    expect(readdirSync(folder)).toEqual(['a.har'])
  })
})
