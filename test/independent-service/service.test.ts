import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEPARTURES } from './departures.ts'
import { HONEST_PROFILES, randomProfile } from './profile.ts'
import { IndependentService } from './service.ts'

const NOW = Date.parse('2026-03-02T10:20:00Z')

/** The status and the body of what the service answers to a request with its key. */
function asking(service: IndependentService) {
  return (method: string, target: string, body?: unknown) => {
    const {
      status,
      headers,
      body: bytes,
    } = service.answer(
      {
        method,
        target: `/api/v1${target}`,
        headers: { authorization: 'Bearer key-of-the-account', 'content-type': 'application/json' },
        body: body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body)),
      },
      NOW,
    )
    const isPlain = !headers.some(([name]) => name === 'Content-Encoding')
    return { status, content: isPlain ? JSON.parse(Buffer.from(bytes).toString()) : undefined }
  }
}

/** The files of the service, which was written from the specification alone. */
const OWN = ['service', 'profile', 'departures', 'draw', 'listener', 'sessions']

describe('the independent service', () => {
  it.each(HONEST_PROFILES.filter(({ wire }) => wire.gzip !== 'always'))('keeps what it is given: $name', (profile) => {
    const ask = asking(new IndependentService(profile))
    expect(ask('POST', '/domains', { domains: ['a.example', 'b.example'] }).content.data.count).toBe(2)
    expect(ask('GET', '/dmarc').content.data).toHaveLength(2)
    const { group } = ask('POST', '/domaingroups', { name: 'Mail', domains: ['a.example'] }).content.data
    const target = `/domaingroups?id=${group.id}`
    ask('PATCH', target, { add_domains: ['b.example'], remove_domains: ['a.example'] })
    expect(ask('GET', target).content.data.group.domains).toEqual(['b.example'])
    expect(ask('POST', '/domaingroups', { name: 'MAIL' }).content.error.code).toBe('duplicate_name')
  })

  it('names each departure once', () => {
    expect(new Set(DEPARTURES.map(({ id }) => id)).size).toBe(DEPARTURES.length)
  })

  it('draws the same profile from the same seed', () => {
    expect(randomProfile(7)).toEqual(randomProfile(7))
    expect(randomProfile(7)).not.toEqual(randomProfile(8))
  })

  it.each(OWN)('imports nothing but Node.js and its own parts: %s', (name) => {
    const text = readFileSync(join(import.meta.dirname, `${name}.ts`), 'utf8')
    const allowed = new RegExp(`^(node:.*|\\./(${OWN.join('|')})\\.ts)$`)
    for (const [, source] of text.matchAll(/(?:from|import\(?) *'([^']+)'/g)) expect(source).toMatch(allowed)
  })
})
