import { describe, expect, it } from 'vitest'
import type { ResponseContract } from '../../../src/contract/api.ts'
import { outcomes, refusalOf, successOf, unauthorized } from './outcomes.ts'

describe('A bad envelope', () => {
  const texts = (answer: unknown, response: ResponseContract) =>
    new Set(outcomes('bad-envelope', response.write(answer), response).map(({ body }) => body.toString()))

  it('of a success is one of these', () => {
    const data = '{"group":{"id":"4fTq81Zb","name":"Lamps","domains":["a.example"]}}'
    const error = '{"code":"unknown","message":"Unknown error."}'
    expect(texts({ success: true, data: JSON.parse(data) }, successOf('createDomainGroup'))).toEqual(
      new Set([
        `{"data":${data}}`,
        `{"success":false,"data":${data}}`,
        `{"success":"true","data":${data}}`,
        `{"success":1,"data":${data}}`,
        '{"success":true}',
        `{"success":true,"data":${data},"error":null}`,
        `{"success":true,"data":${data},"error":${error}}`,
        data,
        `[{"success":true,"data":${data}}]`,
        '{}',
        '[]',
        'null',
      ]),
    )
  })

  it('of a refusal is one of these', () => {
    const error = '{"code":"unauthorized","message":"A valid API key is required."}'
    expect(texts(unauthorized, refusalOf(401))).toEqual(
      new Set([
        `{"error":${error}}`,
        `{"success":true,"error":${error}}`,
        `{"success":"false","error":${error}}`,
        `{"success":0,"error":${error}}`,
        '{"success":false}',
        `{"success":false,"error":${error},"data":null}`,
        `{"success":false,"error":${error},"data":{}}`,
        error,
        `[{"success":false,"error":${error}}]`,
        '{}',
        '[]',
        'null',
      ]),
    )
  })
})
