import { describe, expect, it } from 'vitest'
import { shellClient } from '../../support/shell-client.ts'
import { only, reportOf, varyCommand, verdictsIn } from './varied-client.ts'

const LIST = shellClient('send GET /domains')
/** Takes any status but 200 for a failure. */
const STATUS = shellClient(`
  answer=$(send POST /domaingroups --data '{"name": "Retail"}')
  case $answer in *200) ;; *) echo "FAILED test_group.py::test_creates_a_group - $answer"; exit 1 ;; esac
`)

describe('vary', () => {
  it('says on which choice a client depends, which test failed, and what was answered otherwise', async () => {
    const choices = only('create-group-status', 'update-group-response', 'group-id-format')
    const result = await varyCommand(STATUS, { choices })
    expect(verdictsIn(result)).toEqual({
      'create-group-status/1': 'depends',
      'group-id-format/1': 'tolerates',
      'group-id-format/2': 'tolerates',
    })
    expect(reportOf(result, 'create-group-status/1')).toMatchObject({
      spec: 'The status of a successful response is not shown.',
      chosen: { responses: { '200': { $ref: '#/components/responses/DomainGroupCreated' }, '201': null } },
      value: { responses: { '200': null, '201': { $ref: '#/components/responses/DomainGroupCreated' } } },
      first_difference: {
        request: { method: 'POST', path: '/api/v1/domaingroups', body: '{"name": "Retail"}' },
        expected: { status: 200 },
        received: { status: 201 },
      },
      exit_code: 1,
      tests: ['test_group.py::test_creates_a_group'],
      output: expect.stringContaining('FAILED test_group.py'),
    })
    // Three of the command as it is, two of what breaks it, one of each group id.
    expect(result.dependencies).toMatchObject({ runs: 7, baseline: { exit_code: 0, requests: 1, steady: true } })
  })

  it('tries a handful of alternatives for a client that only reads the domains', async () => {
    // Not in the first minute of an hour, when both kinds of a window end at about the same time.
    const result = await varyCommand(LIST, { server: { fixture: 'demo', now: '2026-01-15T09:30:00Z' } })
    const reached = ['domain-order/1', 'domain-order/2', 'quota-window/1', 'rate-limit-reset/1']
    const names = Object.keys(verdictsIn(result)).toSorted()
    expect(names).toEqual([...reached, 'request-id-format/1'])
    expect(result.dependencies.runs).toBe(2 + 5)
  })

  it('leaves out what does not fit the fixture, and says why', async () => {
    const groups = ['X', 'Y'].map((name) => ({ name, domains: ['a.example'] }))
    const fixture = { domains: ['a.example'], groups }
    const result = await varyCommand(LIST, { choices: only('shared-domains'), server: { fixture } })
    const [first] = result.dependencies.alternatives
    expect(first).toMatchObject({ verdict: 'inconclusive', reason: expect.stringContaining('domains') })
    expect(result.dependencies.runs).toBe(2)
  })
})
