import { expect } from 'vitest'
import type { ResponseContract } from '../../../src/contract/api.ts'
import { type Contract, loadContract } from '../../../src/contract/contract.ts'
import { asOverlay } from '../../../src/contract/overlay.ts'
import { type CorruptedBody, type Corruption, corruptBody } from '../../../src/faults/corruption/corruption.ts'
import { fraction, scramble } from '../../../src/ground/chance.ts'
import { isObject, type Json, pointTo } from '../../../src/ground/json.ts'
import { contract } from '../../service/refusals.ts'

/** What is drawn of each kind: enough that everything that is possible comes. */
export const SEEDS = Array.from({ length: 80 }, (_, seed) => seed)

export function drawsOf(seed: number): () => number {
  let word = scramble(seed + 1)
  return () => fraction(scramble(word++ >>> 0))
}

export function corrupt(
  name: Corruption,
  text: string,
  response: ResponseContract,
  draw: () => number,
): CorruptedBody | undefined {
  return corruptBody(name, Buffer.from(text), response, draw)
}

/** What different draws make of one answer. */
export function outcomes(kind: Corruption, text: string, response: ResponseContract, seeds = SEEDS): CorruptedBody[] {
  return seeds
    .map((seed) => corrupt(kind, text, response, drawsOf(seed)))
    .filter((corrupted) => corrupted !== undefined)
}

export interface Difference {
  pointer: string
  /** `undefined` where there was nothing. */
  before: unknown
  /** `undefined` where nothing is left. */
  after: unknown
}

/** Where two values differ, as deep down as can be said. */
export function differences(before: unknown, after: unknown, pointer = ''): Difference[] {
  const comparable = isObject(before) ? isObject(after) : Array.isArray(before) && Array.isArray(after)
  if (!comparable) return Object.is(before, after) ? [] : [{ pointer, before, after }]
  const [one, other] = [before as Json, after as Json]
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].flatMap((key) => differences(ownOf(one, key), ownOf(other, key), pointTo(pointer, key)))
}

function ownOf(object: Json, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Values alone, whatever the order of properties and items. */
export function values(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(values).toSorted((one, other) => compare(one, other))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, values(item)] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
}

function compare(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
}

const ENVELOPE = ['/success', '/data', '/error']

/** Asserts everything that the kind promises of one changed answer. */
export function expectPromised(
  kind: Corruption,
  text: string,
  response: ResponseContract,
  { body, change }: CorruptedBody,
): void {
  const corrupted = body.toString()
  expect(Buffer.from(corrupted).equals(body), 'It is UTF-8.').toBe(true)
  expect(corrupted).not.toBe(text)
  expect(change).toMatch(/^(\/|The |All )[^\n]*[^.\s]\.$/)
  if (kind === 'malformed-json') {
    expect(isJson(corrupted), `${change} ${corrupted}`).toBe(false)
    return
  }
  const [before, after]: [unknown, unknown] = [JSON.parse(text), JSON.parse(corrupted)]
  const violations = response.check(after)
  if (kind === 'compatible') {
    expect(violations, change).toEqual([])
    return
  }
  expect(violations, `${change} ${corrupted.slice(0, 400)}`).not.toEqual([])
  if (kind === 'bad-envelope') return
  const [difference, ...more] = differences(before, after)
  // An array that became an object of the same items, and the like, differs as a whole.
  if (kind !== 'unknown-enum') expect(more).toEqual([])
  expect(change.startsWith(`${difference?.pointer} `), `${change} is at ${difference?.pointer}`).toBe(true)
  if (kind === 'wrong-type') {
    expect(typeOf(difference?.after)).not.toBe(typeOf(difference?.before))
    expect(difference?.after).not.toBeUndefined()
    return
  }
  // The contract's own writer gives the untouched parts the bytes that they had.
  expect(corrupted).toBe(response.write(after))
  if (kind === 'missing-field') {
    expect(difference).toMatchObject({ before: expect.anything(), after: undefined })
    expect(ENVELOPE).not.toContain(difference?.pointer)
  } else if (kind === 'extra-field') {
    expect(difference?.before).toBeUndefined()
  } else {
    for (const each of [difference, ...more]) {
      expect([typeOf(each?.before), typeOf(each?.after)]).toEqual(['string', 'string'])
    }
  }
}

export const GROUP = { id: '4fTq81Zb', name: 'Lamps "and" \\ Ünïcödé/😀', domains: ['a.example', 'b.example'] }

export const RECORD = { domain: 'a.example', p: 'reject', sp: 'none', np: 'none', pct: 100, testing: 'n' }

export const FIGURES = { dmarc: 100, dkim: 99.1, spf: 0, count: 48211 }

export const records = { success: true, data: [1, 2, 3].map(() => ({ ...RECORD, ...FIGURES })) }

export const group = { success: true, data: { group: GROUP } }

export const unauthorized = { success: false, error: { code: 'unauthorized', message: 'A valid API key is required.' } }

export function successOf(id: string, from: Contract = contract): ResponseContract {
  const operation = from.operations.find((each) => each.id === id)
  if (operation === undefined) throw new Error(`There is no operation ${id}.`)
  return operation.success
}

export function refusalOf(status: number, id = 'addDomains', from: Contract = contract): ResponseContract {
  const response = from.operations.find((each) => each.id === id)?.responses.get(status)
  if (response === undefined) throw new Error(`${id} has no response ${status}.`)
  return response
}

/** The contract with actions of an overlay. */
export function changed(...actions: Json[]): Promise<Contract> {
  const overlay = { overlay: '1.0.0', info: { title: 'A change', version: '1.0.0' }, actions }
  return loadContract({ overlays: [asOverlay(overlay, 'change.yaml')] })
}
