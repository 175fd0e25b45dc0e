import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { budget } from '../../support/budget.ts'
import { bundle } from '../../support/bundle.ts'
import { expectHar } from '../../support/har-schema.ts'
import { it } from '../../support/program.ts'

const recorder = await bundle(new URL('endless-recorder.ts', import.meta.url))

describe('A recording of a program', () => {
  it('is whole whenever the program is killed', async ({ folder, onTestFinished }) => {
    let largest = 0
    for (let kill = 0; kill < budget({ quick: 4, full: 40 }); kill++) {
      const path = join(folder, `${kill}.har`)
      const child = spawn(process.execPath, [recorder, path], { stdio: ['ignore', 'pipe', 'inherit'] })
      onTestFinished(() => void child.kill('SIGKILL'))
      await once(child.stdout, 'data')
      // A number that is no multiple of the length of an entry, so that it is killed at different places of an entry.
      await expect.poll(() => statSync(path).size, { interval: 1 }).toBeGreaterThan(10_000 + kill * 98_765)
      child.kill('SIGKILL')
      await once(child, 'exit')
      const { log } = JSON.parse(readFileSync(path, 'utf8')) as { log: { entries: { request: { url: string } }[] } }
      const urls = log.entries.map(({ request }) => request.url)
      expect(urls).toEqual(urls.map((_, index) => `http://127.0.0.1/api/v1/${index}`))
      largest = Math.max(largest, urls.length)
    }
    expect(largest).toBeGreaterThan(0)
  }, 120_000)

  it('stops when the disk is full, is whole, and says so', async ({ folder }) => {
    const path = join(folder, 'a.har')
    // In blocks of 512 bytes, or of 1024 in some shells.
    const limited = `ulimit -f 2000; exec "${process.execPath}" "${recorder}" "${path}" 400`
    const child = spawn('sh', ['-c', limited], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    const { entries, problem } = JSON.parse(said.split('\n')[1] ?? '') as { entries: number; problem: string }
    expect(problem).toBe('The recording ends early, because its file cannot be written any more (EFBIG).')
    expect(expectHar(readFileSync(path, 'utf8'))).toHaveLength(entries)
    expect(readdirSync(folder)).toEqual(['a.har'])
  })
})
