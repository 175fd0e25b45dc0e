import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect } from 'vitest'
import { exchangeWith } from '../support/exchanges.ts'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { entryFrom, entryOf, harOf, RECORDED_AT } from '../support/recorded.ts'
import { openService } from '../support/service.ts'

const service = await openService()
afterAll(service.stop)
const own = []
for (const [index, asked] of [
  { path: '/domains' },
  { path: '/domaingroups', method: 'POST', body: { name: 'Lamps', domains: [] } },
  { path: '/domaingroups' },
  { path: '/dmarc' },
].entries()) {
  own.push(entryFrom(await exchangeWith(service.baseUrl, { ...asked, at: RECORDED_AT + 1000 * index })))
}

describe('check', () => {
  it('passes own traffic', async ({ folder }) => {
    const path = join(folder, 'a.har')
    writeFileSync(path, harOf(own))
    const r = await runInProcess(['check', path, '--report', `json=${folder}/r.json`])
    console.log(r, readFileSync(`${folder}/r.json`, 'utf8').slice(0, 3000))
    const t = await runInProcess(['check', path + 'x'])
    console.log(t)
    writeFileSync(path, harOf([entryOf()]))
    console.log(await runInProcess(['check', path]))
    writeFileSync(path, harOf([entryOf({ url: 'https://a.example/' })]))
    console.log(await runInProcess(['check', path]))
  })
})
