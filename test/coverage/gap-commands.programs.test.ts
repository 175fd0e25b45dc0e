import { execFile } from 'node:child_process'
import { expect, it } from 'vitest'
import type { Gap } from '../../src/coverage/report.ts'
import { HAS_CURL } from '../support/curl.ts'
import { startObserved } from '../support/observed-service.ts'
import { API_KEY } from '../support/service.ts'
import { unfilled } from './gaps.ts'

it.skipIf(!HAS_CURL)('The commands that a report gives for each gap fill it, run by a shell with curl', async () => {
  const shell = (command: string) =>
    new Promise<string>((resolve, reject) => {
      const env = { ...process.env, API_KEY }
      execFile('sh', ['-c', command], { env }, (error, out) => (error ? reject(error) : resolve(out)))
    })
  const service = await startObserved({ fixture: 'demo' })
  const fill = async ({ curl = [] }: Gap) => {
    for (const command of curl) await shell(command)
  }
  expect(await unfilled(service, fill)).toEqual([])
})
