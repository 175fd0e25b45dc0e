import { describe, expect, it } from 'vitest'
import { refusalsByState } from '../../../src/trials/explore/faults.ts'
import { ACCOUNT } from '../../support/account.ts'
import { CONTRACT, observeRun, type Send } from '../../support/observed-run.ts'

/** The codes with which the last request of a run could be refused in another state of the account. */
async function codesAfter(act: (send: Send) => Promise<unknown>): Promise<string[]> {
  const { requests } = await observeRun(act, { options: { fixture: ACCOUNT } })
  const last = requests.at(-1)
  return last === undefined ? [] : [...refusalsByState(last.entry, CONTRACT)].toSorted()
}

async function groupPath(send: Send): Promise<string> {
  const answer = await send('GET', '/domaingroups')
  return `/domaingroups?id=${answer?.body.data.groups[0].id}`
}

describe('The refusals that the account can bring about', () => {
  it.each<[what: string, act: (send: Send) => Promise<unknown>, codes: string[]]>([
    ['adds domains', (send) => send('POST', '/domains', { domains: ['new.example'] }), ['invalid_domain']],
    ['removes domains', (send) => send('DELETE', '/domains', { domains: ['three.example'] }), ['domain_delete_failed']],
    ['creates a group', (send) => send('POST', '/domaingroups', { name: 'New' }), ['duplicate_name']],
    [
      'creates a group with members',
      (send) => send('POST', '/domaingroups', { name: 'New', domains: ['one.example'] }),
      ['duplicate_name', 'not_monitored'],
    ],
    [
      'renames a group',
      async (send) => send('PATCH', await groupPath(send), { name: 'New' }),
      ['duplicate_name', 'not_found'],
    ],
    [
      'adds members',
      async (send) => send('PATCH', await groupPath(send), { add_domains: ['three.example'] }),
      ['not_found', 'not_monitored'],
    ],
    ['deletes a group', async (send) => send('DELETE', await groupPath(send)), ['not_found']],
    ['was refused for this reason', (send) => send('POST', '/domains', { domains: ['one.example'] }), []],
    ['no account accepts', (send) => send('POST', '/domains', { domains: ['no hostname'] }), []],
    ['is no JSON object', (send) => send('POST', '/domains', 'text'), []],
  ])('are those of a request that %s', async (_, act, codes) => {
    expect(await codesAfter(act)).toEqual(codes)
  })
})
