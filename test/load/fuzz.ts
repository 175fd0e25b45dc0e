import type { Contract } from '../../src/contract/contract.ts'
import { expectDocumented } from '../support/control-plane.ts'
import { violationsOf } from '../support/service.ts'
import type { Answer } from './client.ts'
import type { FuzzedRequest } from './requests.ts'

/** Where an answer departs from what its document says; texts that are no JSON are a departure of their own. */
export function departuresOf(
  contract: Contract,
  { plane, method, path }: Pick<FuzzedRequest, 'plane' | 'method' | 'path'>,
  { status, headers, text }: Answer,
): readonly unknown[] {
  const isJson = headers['content-type'] === 'application/json' && text !== ''
  try {
    const body = isJson ? JSON.parse(text) : undefined
    if (plane === 'service') return violationsOf(contract, method, path, { status, headers, body })
    expectDocumented(method, path, { status, headers, text, body })
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

/** Adds the texts of a value to a list that never grows beyond `limit`: then a new one takes the place of an old one. */
export function harvest(value: unknown, list: string[], limit: number, place: (limit: number) => number): void {
  if (typeof value === 'string' && value.length > 0 && value.length < 300) {
    if (list.length < limit) list.push(value)
    else list[place(limit)] = value
  } else if (typeof value === 'object' && value !== null) {
    for (const each of Object.values(value).slice(0, 20)) harvest(each, list, limit, place)
  }
}
