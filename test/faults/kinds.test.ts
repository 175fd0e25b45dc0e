import { describe, expect, it } from 'vitest'
import type { FaultRule } from '../../src/domain/faults.ts'
import {
  ACCOUNT_EVENTS,
  CONNECTION_FAULTS,
  CORRUPTIONS,
  FAULT_KINDS,
  type FaultKind,
  kindNameOf,
  phaseOf,
} from '../../src/faults/kinds.ts'
import { isObject, valueAt } from '../../src/ground/json.ts'
import { controlApi } from '../support/control-plane.ts'

const KINDS = Object.entries<FaultKind>(FAULT_KINDS)
const schema = valueAt(controlApi.document.source, '/components/schemas/FaultRule')

function schemaAt(pointer: string): unknown {
  return valueAt(schema, pointer)
}

describe('The table of kinds and the schema of fault rules', () => {
  it.each([
    ['connection', CONNECTION_FAULTS],
    ['corrupt', CORRUPTIONS],
    ['event', ACCOUNT_EVENTS],
  ])('have the same values of `%s`', (field, values) => {
    expect(schemaAt(`/properties/${field}/enum`)).toEqual(values)
  })

  it('have the same fields that ask for a kind', () => {
    const fields = new Set(KINDS.map(([, { field }]) => field))
    const alternatives = schemaAt('/anyOf') as { required: string[] }[]
    // A jitter is a delay that chance decides.
    expect(new Set(alternatives.flatMap(({ required }) => required))).toEqual(new Set([...fields, 'jitter_ms']))
    for (const field of fields) expect(isObject(schemaAt(`/properties/${field}`)), field).toBe(true)
  })

  it.each(['before', 'after'])('forbid the phase `%s` to the same kinds', (phase) => {
    const other = phase === 'before' ? 'after' : 'before'
    const forbidden = (schemaAt('/not/anyOf') as { required: string[]; properties: Record<string, unknown> }[]).filter(
      ({ properties }) => valueAt(properties, '/phase/const') === phase,
    )
    const names = forbidden.flatMap(({ required, properties }) => {
      const field = required.find((each) => each !== 'phase') ?? ''
      const values = valueAt(properties, `/${field}/enum`) as string[] | undefined
      return values ?? KINDS.filter(([, kind]) => kind.field === field).map(([name]) => name)
    })
    const fixed = KINDS.filter(([, kind]) => kind.phase === other).map(([name]) => name)
    expect(names.toSorted()).toEqual(fixed.toSorted())
  })
})

describe('A kind of fault', () => {
  it.each(KINDS)('%s says in sentences what it did, and needs a body only where there is one', (_, kind) => {
    const { action, effect, withoutBody, phase, needsBody } = kind
    if (action.type === 'cut' || action.type === 'send') expect(effect?.(20)).toMatch(/^[A-Z][^{}]+\.$/)
    if (withoutBody !== undefined) expect(withoutBody).toMatch(/^[A-Z].+\.$/)
    if (needsBody) expect(phase).toBe('after')
  })

  it.each<[rule: FaultRule, name: string, phase: string]>([
    [{}, 'delay', 'before'],
    [{ delay_ms: 5 }, 'delay', 'before'],
    [{ jitter_ms: 5 }, 'delay', 'before'],
    [{ delay_ms: 5, respond: { status: 503 } }, 'respond', 'before'],
    [{ respond: { error: 'rate_limited' }, phase: 'after' }, 'respond', 'after'],
    [{ connection: 'reset' }, 'reset', 'before'],
    [{ connection: 'hang', phase: 'after' }, 'hang', 'after'],
    [{ connection: 'truncate' }, 'truncate', 'after'],
    [{ delay_ms: 5, connection: 'drip' }, 'drip', 'after'],
    [{ corrupt: 'compatible' }, 'compatible', 'after'],
    [{ event: 'quota-used-up' }, 'quota-used-up', 'before'],
    [{ event: 'window-end' }, 'window-end', 'after'],
    [{ event: 'refresh' }, 'refresh', 'after'],
  ])('that %j asks for is `%s`, in the phase `%s`', (rule, name, phase) => {
    expect([kindNameOf(rule), phaseOf(rule)]).toEqual([name, phase])
  })

  it.each(['constructor', 'explode'])('`%s` does not exist', (connection) => {
    expect(() => kindNameOf({ connection })).toThrow(`There is no kind of fault ${connection}.`)
  })
})
