import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { API_KEY, openService, type TestService } from '../support/service.ts'
import { AUTHORIZED, bodyOf, codeOf, readResponses } from '../support/wire.ts'

const [NAME, KEY] = AUTHORIZED
const requestTo = (target: string, hosts: readonly string[], version = '1.1') =>
  [`GET ${target} HTTP/${version}`, ...hosts, `${NAME}: ${KEY}`, 'Connection: close', '', ''].join('\r\n')

const MALFORMED: [what: string, hosts: string[]][] = [
  ['no Host', []],
  ['two of them', ['Host: localhost', 'Host: localhost']],
  ['two of them with another between', ['Host: localhost', 'Accept: */*', 'host: other.example']],
  ['a path in it', ['Host: localhost/x']],
  ['user information in it', ['Host: me@localhost']],
  ['a port that is no number', ['Host: localhost:http']],
  ['two names in it', ['Host: localhost, other.example:80 ']],
  ['a broken escape in it', ['Host: local%zzhost']],
]

describe('A request with', () => {
  let service: TestService
  let guarded: TestService
  beforeAll(async () => {
    service = await openService({ enforceQuotas: false })
    guarded = await openService({ adminToken: API_KEY })
  })
  afterAll(() => Promise.all([service.stop(), guarded.stop()]))

  it.each(MALFORMED)('%s is refused with 400, on both planes', async (_, hosts) => {
    const target = '/api/v1/domains'
    const [response] = readResponses(await service.sendRaw(requestTo(target, hosts)))
    expect([response?.status, response && codeOf(response)]).toEqual([400, 'invalid_request_body'])
    // Where no token protects the control plane, its guard refuses a Host that is not this machine's before that.
    for (const below of ['/accounts', '/nothing']) {
      const [refusal] = readResponses(await guarded.sendRaw(requestTo(`/__admin${below}`, hosts)))
      expect([refusal?.status, refusal && codeOf(refusal)]).toEqual([400, 'invalid_value'])
      expect(refusal && bodyOf(refusal)?.error?.message).toMatch(/^The request must have one header field `Host`,/)
    }
  })

  it('two of them is refused in HTTP/1.0 too, where none is needed', async () => {
    const statusWith = async (...hosts: string[]) =>
      readResponses(await service.sendRaw(requestTo('/api/v1/domains', hosts, '1.0')))[0]?.status
    expect([await statusWith('Host: a', 'Host: b'), await statusWith()]).toEqual([400, 200])
  })
})
