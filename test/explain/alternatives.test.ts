import { describe, expect, it } from 'vitest'
import { ACCOUNT, pathOf } from '../support/account.ts'
import { actionsFor } from '../support/alternatives.ts'
import { startObserved } from '../support/observed-service.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { sendPlanned } from '../support/planned-requests.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { AUTHORIZED, codeOf, exchange, type Header, JSON_BODY } from '../support/wire.ts'

interface Row {
  alternative: string
  method: string
  /** Below the base URL; `{Sales}` stands for the path of that group. */
  path: string
  body?: string | Buffer
  headers?: Header[]
  code: string
  changes: string[]
  /** Assumptions that the explanation names beside that of the status of the code. */
  assumptions: string[]
}

const TYPED = (charset: string): Header[] => [['Content-Type', `application/json; charset=${charset}`]]

describe('What an alternative refuses is explained, and the correction is accepted:', () => {
  const rows: Row[] = [
    {
      alternative: 'ignored-body-1',
      ...{ method: 'GET', path: '/domains', body: '{}', code: 'invalid_request_body' },
      changes: ['The body was left out, because none may be sent.'],
      assumptions: ['ignored-body'],
    },
    {
      alternative: 'repeated-id-2',
      ...{ method: 'GET', path: '{Sales}&id=x', code: 'invalid_field_type' },
      changes: ['The query parameter `id` is sent once.'],
      assumptions: ['repeated-id'],
    },
    {
      alternative: 'request-charset-2',
      ...{ method: 'POST', path: '/domaingroups', body: '{"name":"A"}', code: 'invalid_request_body' },
      headers: TYPED('nonsense'),
      changes: [
        'The header `Content-Type` is application/json instead of `application/json; charset=nonsense`.',
        'The body is an example, because none was read.',
        '`name` is "Marketing 2", because a name is needed.',
      ],
      assumptions: ['request-charset'],
    },
    {
      alternative: 'request-charset-2',
      ...{ method: 'POST', path: '/domaingroups', body: Buffer.from('{"name":"Caf\u00e9"', 'latin1') },
      ...{ headers: TYPED('iso-8859-1'), code: 'invalid_json' },
      changes: ['The body is valid JSON, which it nearly was.'],
      assumptions: ['request-charset'],
    },
    {
      alternative: 'byte-order-mark-1',
      ...{ method: 'POST', path: '/domaingroups', body: '\ufeff{"name":"A","x":1}', code: 'unknown_field' },
      changes: ['`x` was left out: there is no such field.'],
      assumptions: [],
    },
  ]
  it.each(rows)('$alternative, $method $path', async ({ alternative, method, path, body, headers, ...expected }) => {
    const overlays = [writeOverlay(temporaryFolder(), actionsFor(alternative))]
    const service = await startObserved({ fixture: ACCOUNT, overlays })
    const target = `/api/v1${path.replace('{Sales}', await pathOf(service, 'Sales'))}`
    const typed = headers ?? (body === undefined ? [] : [JSON_BODY])
    const sent = { method, target, headers: [AUTHORIZED, ...typed], ...(body !== undefined && { body }) }
    expect(codeOf(await exchange(service, sent))).toBe(expected.code)

    const { request_id: requestId } = await service.latest()
    const { code, problems, assumptions, correction } = await service.explain(requestId)
    expect(code).toBe(expected.code)
    expect(problems[0]?.code).toBe(expected.code)
    expect(correction?.changes).toEqual(expected.changes)
    const ids = assumptions.map(({ id }) => id).filter((id) => !id.startsWith('status-'))
    expect(ids.toSorted()).toEqual(expected.assumptions)
    const accepted = await sendPlanned(service, (correction?.requests ?? []) as never)
    expect(accepted?.status, accepted?.text).toBe(200)
  })

  it('client-request-ids-1, by the id that the client has chosen, of its last request with this id', async () => {
    const service = await startObserved({
      overlays: [writeOverlay(temporaryFolder(), actionsFor('client-request-ids-1'))],
    })
    for (const path of ['/dmarc', '/domains']) {
      await service.send('GET', path, undefined, { 'x-request-id': 'Trace/1.2:3@x=y+z_-' })
    }
    const explained = await service.explain(encodeURIComponent('Trace/1.2:3@x=y+z_-'))
    expect(explained).toMatchObject({ operation: 'listDomains', summary: 'listDomains succeeded.' })
  })

  it('not-http-1, with the reason why nothing was answered', async () => {
    const service = await startObserved({ overlays: [writeOverlay(temporaryFolder(), actionsFor('not-http-1'))] })
    expect(await service.sendRaw('NONSENSE\r\n\r\n')).toBe('')
    expect(await service.latest()).toMatchObject({
      status: null,
      code: null,
      problems: [{ code: 'invalid_request_body' }],
    })
    const { data } = await service.ask('GET', '/verdict')
    expect(data.violations).toMatchObject({ count: 1, by_code: { invalid_request_body: 1 } })
    expect(await service.explain()).toMatchObject({
      summary: 'The connection was closed without a response: The request is not valid HTTP.',
    })
  })
})
