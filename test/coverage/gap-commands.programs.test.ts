import { execFile } from 'node:child_process'
import { expect, it } from 'vitest'
import type { CoverageReport } from '../../src/coverage/report.ts'
import { HAS_CURL } from '../support/curl.ts'
import { startObserved } from '../support/observed-service.ts'
import { API_KEY } from '../support/service.ts'

it.skipIf(!HAS_CURL)('The commands for a gap without a hint fill it, run by a shell with curl', async () => {
  const shell = (command: string) =>
    new Promise<string>((resolve, reject) => {
      const env = { ...process.env, API_KEY }
      execFile('sh', ['-c', command], { env }, (error, out) => (error ? reject(error) : resolve(out)))
    })
  const service = await startObserved({ fixture: 'demo' })
  const gaps = async () => {
    const { operations }: CoverageReport = (await service.ask('GET', '/accounts/default/coverage')).data
    return operations.flatMap(({ operation, responses }) =>
      responses
        .filter(({ curl, hint }) => curl !== undefined && hint === undefined)
        .map(({ status, code, curl = [] }) => ({ name: `${operation} ${status} ${code}`, curl })),
    )
  }
  const all = await gaps()
  expect(all.length).toBeGreaterThan(15)
  for (const { name, curl } of all) {
    for (const command of curl) await shell(command)
    expect((await gaps()).map((each) => each.name)).not.toContain(name)
    await service.ask('POST', '/accounts/default/reset')
  }
})
