import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HONEST_PROFILES } from './profile.ts'
import { IndependentService } from './service.ts'

const NOW = Date.parse('2026-03-02T10:20:00Z')

/** The body of what the service answers to a request with its key. */
function asking(service: IndependentService) {
  return (method: string, target: string, body?: unknown) => {
    const headers = { authorization: 'Bearer key-of-the-account', 'content-type': 'application/json' }
    const sent = Buffer.from(body === undefined ? '' : JSON.stringify(body))
    const response = service.answer({ method, target: `/api/v1${target}`, headers, body: sent }, NOW)
    return JSON.parse(Buffer.from(response.body).toString())
  }
}

/** The files of the service, which was written from the specification alone. */
const OWN = ['service', 'profile', 'departures', 'draw', 'listener', 'sessions']

describe('the independent service', () => {
  it.each(HONEST_PROFILES.filter(({ wire }) => wire.gzip !== 'always'))('keeps what it is given: $name', (profile) => {
    const ask = asking(new IndependentService(profile))
    expect(ask('POST', '/domains', { domains: ['a.example', 'b.example'] }).data.count).toBe(2)
    expect(ask('GET', '/dmarc').data).toHaveLength(2)
    const { group } = ask('POST', '/domaingroups', { name: 'Mail', domains: ['a.example'] }).data
    const target = `/domaingroups?id=${group.id}`
    ask('PATCH', target, { add_domains: ['b.example'], remove_domains: ['a.example'] })
    expect(ask('GET', target).data.group.domains).toEqual(['b.example'])
    expect(ask('POST', '/domaingroups', { name: 'MAIL' }).error.code).toBe('duplicate_name')
  })

  it.each(OWN)('imports nothing but Node.js and its own parts: %s', (name) => {
    const text = readFileSync(join(import.meta.dirname, `${name}.ts`), 'utf8')
    const allowed = new RegExp(`^(node:.*|\\./(${OWN.join('|')})\\.ts)$`)
    for (const [, source] of text.matchAll(/(?:from|import\(?) *'([^']+)'/g)) expect(source).toMatch(allowed)
  })
})
