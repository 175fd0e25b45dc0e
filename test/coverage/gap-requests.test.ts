import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { Coverage } from '../../src/coverage/coverage.ts'
import { writeCurl } from '../../src/coverage/curl.ts'
import { reportCoverage } from '../../src/coverage/report.ts'
import { encodeAccount } from '../../src/store/record.ts'
import { contractWith } from '../support/alternatives.ts'
import { startObserved } from '../support/observed-service.ts'
import { ONE_SENTENCE } from '../support/own-document.ts'
import { sendPlanned } from '../support/planned-requests.ts'
import { entriesOf, hinted, overlayFile, reportOf, shownIn } from './gaps.ts'

describe('the requests that a report gives for each gap fill it', () => {
  it('of deletions, which leave members alone where a member may not be deleted', async () => {
    const contract = await contractWith('deletion-of-members-1')
    const fixture = { domains: ['member.example'], groups: [{ name: 'X', domains: ['member.example'] }] }
    const service = await startObserved({ fixture }, OPERATIONS, { contract })
    const gaps = entriesOf(await reportOf(service))
    await sendPlanned(service, gaps.get('deleteDomains 200 success')?.request ?? [])
    expect((await shownIn(service)).get('deleteDomains 200 success')).toBe(1)
  })
})

describe('a gap', () => {
  it('that no request can fill as the contract stands has a hint instead', async () => {
    const rule = { 'no-such-refusal': { says: 'Something else is refused.', refuses: ['/never'] } }
    const added = { target: "$.paths['/domains'].post['x-rule']", update: rule }
    const service = await startObserved({ fixture: 'demo', overlays: [overlayFile([added])] })
    const report = await reportOf(service)
    expect(hinted(report)).toEqual(['no-such-refusal'])
    expect(report.rules.find(({ id }) => id === 'no-such-refusal')).toMatchObject({
      seen: false,
      hint: expect.stringMatching(ONE_SENTENCE),
    })
  })

  it('has neither request nor hint where no account is given', async () => {
    const report = reportCoverage(new Coverage(await loadContract()))
    expect([...entriesOf(report).values()].filter(({ request, hint }) => request ?? hint)).toEqual([])
  })

  it('is planned without a change to the account', async () => {
    const service = await startObserved({ fixture: 'empty' })
    const before = encodeAccount(await service.store.read('default'))
    await reportOf(service)
    expect(encodeAccount(await service.store.read('default'))).toEqual(before)
  })
})

const PLANES = { baseUrl: 'http://127.0.0.1:4010/api/v1', adminUrl: 'http://127.0.0.1:4010/__admin' }

it.each([100, 1_048_577])(
  'a padded body is written by a POSIX shell as so many bytes of the same JSON: %d',
  (padTo) => {
    const body = { name: "Tom's 100 % \\n -" }
    const request = { plane: 'service', method: 'POST', path: '/domaingroups', body, padTo } as const
    const command = writeCurl(request, PLANES, undefined)
    expect(command).toMatch(/^printf .* \| curl .* --data-binary @-$/)
    const bytes = execFileSync('sh', ['-c', command.replace(/ \| curl .*$/, '')], { maxBuffer: 2 * padTo })
    expect(bytes).toHaveLength(padTo)
    expect(JSON.parse(bytes.toString())).toEqual(body)
  },
)
