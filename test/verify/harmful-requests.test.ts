import { describe, expect, it } from 'vitest'
import { findHarm } from '../../src/verify/harmful-requests.ts'
import type { ProbeRequest } from '../../src/verify/probe.ts'

type Permission = Parameters<typeof findHarm>[1]

const shared: Permission = {
  isOwnDomain: (name) => name.includes('verify-x'),
  isOwnGroup: (id) => id === 'own',
  hasOnlyOwn: () => false,
}
const alone: Permission = { ...shared, hasOnlyOwn: () => true }
const OWN = 'verify-x-1.example'

describe('a request of verify', () => {
  it.each<[what: string, request: ProbeRequest]>([
    ['reads', { method: 'GET', path: '/domaingroups?id=theirs' }],
    ['creates', { method: 'POST', path: '/domains', body: { domains: [OWN] } }],
    ['changes a group of the run', { method: 'PATCH', path: '/domaingroups?id=own', body: { domains: [] } }],
    ['deletes a group of the run', { method: 'DELETE', path: '/domaingroups?id=own' }],
    ['removes domains of the run', { method: 'DELETE', path: '/domains', body: { domains: [OWN] } }],
    ['removes nothing', { method: 'DELETE', path: '/domains', body: { domains: [] } }],
    [
      'names no group and removes what no group has',
      { method: 'PATCH', path: '/domaingroups', body: { remove_domains: [OWN] } },
    ],
  ])('may be sent that %s', (_, request) => {
    expect(findHarm(request, shared)).toBeUndefined()
  })

  it.each<[what: string, request: ProbeRequest]>([
    ['changes a group of others', { method: 'PATCH', path: '/domaingroups?id=theirs', body: { name: 'x' } }],
    ['names two groups, one of others', { method: 'DELETE', path: '/domaingroups?id=own&id=theirs' }],
    ['hides the id of others in an escape', { method: 'DELETE', path: '/domaingroups?%69d=theirs' }],
    ['deletes a group of others without a key', { method: 'DELETE', path: '/domaingroups?id=theirs', key: 'none' }],
    ['replaces a group of others', { method: 'PUT', path: '/domaingroups?id=theirs' }],
    ['removes a domain of others', { method: 'DELETE', path: '/domains', body: { domains: [OWN, 'a.example'] } }],
    ['removes domains without a list', { method: 'DELETE', path: '/domains', body: {} }],
    ['deletes a group without an id', { method: 'DELETE', path: '/domaingroups' }],
    ['renames a group without an id', { method: 'PATCH', path: '/domaingroups', body: { name: 'x' } }],
    ['replaces all domains', { method: 'PUT', path: '/domains', body: { domains: [] } }],
    ['goes to another path', { method: 'DELETE', path: '/account' }],
  ])('is not sent that %s', (_, request) => {
    expect(findHarm(request, shared)).toMatch(/\w/)
  })

  it('may go without an id where the account has no group of others', () => {
    expect(findHarm({ method: 'DELETE', path: '/domaingroups' }, alone)).toBeUndefined()
    expect(findHarm({ method: 'DELETE', path: '/domaingroups?id=theirs' }, alone)).toMatch('theirs')
  })
})
