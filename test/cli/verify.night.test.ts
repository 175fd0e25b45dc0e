import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { digestOf, Ledger } from '../../src/verify/ledger.ts'
import { it } from '../support/program.ts'
import { runProcess } from '../support/program-process.ts'
import { API_KEY, startService } from '../support/service.ts'

it('verify undoes a run that was killed, in a sweep, which waits until nothing of it can be under way', async ({
  folder,
}) => {
  const service = await startService({ fixture: 'empty' })
  const before = (await service.get('/domains')).text
  const head = { run: 'abcd1234', target: service.baseUrl, suffix: 'example', writes: true }
  const ledger = Ledger.create(join(folder, 'ledger.json'), { ...head, digest: digestOf(service.baseUrl, API_KEY) })
  ledger.write({ before: { domains: [], groups: [] } })
  ledger.write({ creates: { domains: ['verify-abcd1234-1.example'] } })
  ledger.close()
  expect(statSync(ledger.path).mode & 0o777).toBe(0o600)
  expect(readFileSync(ledger.path, 'utf8')).not.toContain(API_KEY)
  await service.send('POST', '/domains', { domains: ['verify-abcd1234-1.example'] })
  const args = ['verify', '--base-url', service.baseUrl, '--sweep', ledger.path]
  const { code, stderr } = await runProcess(args, { environment: { DMARC_UNDERSTUDY_API_KEY: API_KEY }, folder })
  expect(stderr).toMatch(/removed 1 domain.* of the run abcd1234; the account is as before\.\n$/)
  expect(code).toBe(0)
  expect((await service.get('/domains')).text).toBe(before)
  expect(readdirSync(folder)).toEqual([])
})
